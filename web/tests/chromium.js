import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { chromium } from "playwright-core";

/** The folder for pictures of pages, for people to look at. No test compares them, so they are taken only on demand. */
const PICTURES = process.env.LYCEUM_TEST_SCREENSHOTS;
/** Pictures end there: what follows on longer pages looks the same. */
const PICTURE_MAX_PX = 4000;
/** The headless shell renders the same pages and uses less processor time. */
const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/** What a page may take for one step on a busy machine. Only a step that fails takes so long. */
export const STEP_MAX_MS = 120_000;

/** Starts the system's Chromium, with further arguments and without some of Playwright's, closed when the test ends. */
export async function launch(t, further = [], ignoreDefaultArgs = []) {
  const folders = (process.env.PATH ?? "").split(":");
  const executablePath = NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(existsSync);
  if (!executablePath) throw new Error("Chromium is not installed; `apt-get install chromium`");
  // Test machines often run as root, where Chromium's own sandbox does not start.
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage", ...further], ignoreDefaultArgs });
  t.after(() => browser.close());
  return browser;
}

/** Takes a picture of a page as it is shown, whole, if somebody wants pictures. */
export async function takePicture(page, name) {
  if (!PICTURES) return;
  const session = await page.context().newCDPSession(page);
  const { cssContentSize } = await session.send("Page.getLayoutMetrics");
  const { width } = page.viewportSize();
  const clip = { x: 0, y: 0, width, height: Math.min(cssContentSize.height, PICTURE_MAX_PX), scale: 1 };
  const { data } = await session.send("Page.captureScreenshot", { clip, captureBeyondViewport: true, optimizeForSpeed: true });
  await session.detach();
  mkdirSync(PICTURES, { recursive: true });
  writeFileSync(join(PICTURES, `${name}.png`), Buffer.from(data, "base64"));
}
