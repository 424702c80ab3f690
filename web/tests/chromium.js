import { existsSync } from "node:fs";
import { join } from "node:path";

import { chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome"];

/** Starts the system's Chromium, with further arguments, closed when the test ends. */
export async function launch(t, further = []) {
  const folders = (process.env.PATH ?? "").split(":");
  const executablePath = folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find(existsSync);
  if (!executablePath) throw new Error("Chromium is not installed; `apt-get install chromium`");
  // Test machines often run as root, where Chromium's own sandbox does not start.
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage", ...further] });
  t.after(() => browser.close());
  return browser;
}
