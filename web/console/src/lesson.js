// The page of a lesson.
import "./learn/player.js";
