// The pages of students.
import "./learn/sign-out.js";
import "./learn/zone.js";
