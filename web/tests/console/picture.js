// The picture of the console in README.md, in both themes. `LYCEUM_BLESS=1` takes it again.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const SIZE = { width: 1280, height: 640 };
/** A reader of the page loads one of them. */
const MAX_BYTES = 150_000;
const PNG = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

export default async function picture(t, kit) {
  const { browser } = kit;
  for (const colorScheme of ["light", "dark"]) {
    const file = fileURLToPath(new URL(`../../../docs/pictures/console-${colorScheme}.png`, import.meta.url));
    if (process.env.LYCEUM_BLESS === "1") {
      const storageState = await kit.pages.guide.page.context().storageState();
      const context = await browser.newContext({ baseURL: kit.server.base, storageState, viewport: SIZE, colorScheme, reducedMotion: "reduce" });
      const page = await context.newPage();
      await page.goto("/console/today");
      writeFileSync(file, await page.screenshot());
      await context.close();
    }
    const bytes = readFileSync(file);
    assert.ok(bytes.subarray(0, PNG.length).equals(PNG), `${file} is a PNG`);
    assert.deepEqual([bytes.readUInt32BE(16), bytes.readUInt32BE(20)], [SIZE.width, SIZE.height], file);
    assert.ok(bytes.length <= MAX_BYTES, `${file} has ${bytes.length} bytes`);
  }
}
