// What people of each role do most, in a real browser; `learn.test.js` has the journey of a student. Every change must pass
// these two, the other files are for `cargo xtask test --rest`.
import { JOURNEYS, testScreens } from "./console/run.js";

testScreens("journeys of administrators, guides and developers", (name) => JOURNEYS.includes(name));
