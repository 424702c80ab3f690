// The console in a real browser: the second half of its screens.
import { JOURNEYS, testScreens } from "./console/run.js";

testScreens("the console, from I to Z", (name) => name >= "i" && !JOURNEYS.includes(name));
