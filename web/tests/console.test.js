// The console in a real browser: one server and one browser for all screens, a file a screen.
import { readdirSync } from "node:fs";
import { test } from "node:test";

import { Console } from "./console/kit.js";
import { binary } from "./server.js";

/** A screen takes seconds; one that hangs must not hide which it was. */
const SCREEN_MAX_MS = 120_000;
/** These tests drive the program; `LYCEUM_TEST_BIN` names it. */
const skip = binary ? false : "LYCEUM_TEST_BIN names no program";
const screens = readdirSync(new URL("console", import.meta.url)).filter((name) => !["kit.js", "data.js"].includes(name));

test("the console", { skip }, async (t) => {
  const kit = await Console.start(t);
  for (const name of screens.sort()) {
    const { default: screen } = await import(`./console/${name}`);
    await t.test(name.replace(".js", ""), { timeout: SCREEN_MAX_MS }, async (t) => {
      await screen(t, kit);
      await kit.looked();
    });
  }
});
