// The console in a real browser: the first half of its screens. `console-more.test.js` has the others, so that both run at
// the same time; `journeys.test.js` has some.
import { JOURNEYS, testScreens } from "./console/run.js";

testScreens("the console, from A to H", (name) => name < "i" && !JOURNEYS.includes(name));
