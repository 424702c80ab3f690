// Runs the tests of screens, a file a screen, with one server and one browser for all of them.
import { readdirSync } from "node:fs";
import { test } from "node:test";

import { binary } from "../server.js";
import { Console } from "./kit.js";

/** A screen takes seconds; one that hangs must not hide which it was. */
const SCREEN_MAX_MS = 240_000;
/** These tests drive the program; `LYCEUM_TEST_BIN` names it. */
const skip = binary ? false : "LYCEUM_TEST_BIN names no program";
/** One screen for each role: an administrator's people, a guide's day, a developer's keys. */
export const JOURNEYS = ["keys", "people", "today"];
const NO_SCREENS = ["kit.js", "data.js", "run.js"];

/** Tests the screens that are chosen by name. */
export function testScreens(title, isChosen) {
  const names = readdirSync(new URL(".", import.meta.url)).filter((name) => !NO_SCREENS.includes(name));
  const screens = names.map((name) => name.replace(".js", "")).filter(isChosen);
  test(title, { skip }, async (t) => {
    const kit = await Console.start(t);
    for (const name of screens.sort()) {
      const { default: screen } = await import(`./${name}.js`);
      await t.test(name, { timeout: SCREEN_MAX_MS }, async (t) => {
        await screen(t, kit);
        await kit.looked();
      });
    }
  });
}
