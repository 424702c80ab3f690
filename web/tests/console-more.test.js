// The console in a real browser: the second half of its screens.
import { testScreens } from "./console/run.js";

testScreens("the console, from I to Z", (name) => name >= "i");
