// The frame: who sees what, how quickly, by keyboard alone, and what is sent with it.
import assert from "node:assert/strict";

import { ZONE, tabTo } from "./kit.js";

const SEEN = {
  administrator: ["Home", "Today", "Students", "Classes", "Courses", "Badges and records", "Events", "Imports", "Projects", "Apps and keys", "Webhooks", "People", "System", "Docs"],
  guide: ["Home", "Today", "Students", "Classes", "Courses", "Badges and records", "Events", "Docs"],
  developer: ["Home", "Projects", "Apps and keys", "Docs"],
};
const FIRST_VIEW_MAX_BYTES = 150_000;
// The bar is that of the program as it is shipped; an unoptimized one, with other tests beside it, has three times that.
const USABLE_MAX_MS = process.env.LYCEUM_TEST_SIZE === "full" ? 1000 : 3000;
/** Views at most until one is quick enough: the best is the program's own time, whatever else the machine does. */
const VIEWS = 10;

export default async function frame(t, kit) {
  for (const [role, wanted] of Object.entries(SEEN)) {
    const page = await kit.open("/console", role);
    const names = await page.locator("#navigation li a").allTextContents();
    assert.deepEqual(names, wanted, role);
  }

  // Whoever is not signed in goes to sign in, and comes back to where they wanted to be.
  const { page, faults } = await kit.newPage(t);
  await page.goto("/console?seen=1");
  assert.equal(new URL(page.url()).search, "?next=%2Fconsole%3Fseen%3D1");
  await page.fill("#email", "guide@example.org");
  await page.fill("#password", "correct horse");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/console?seen=1");

  // The first view: a browser without a cache, which has not told its zone yet.
  const cookies = (await page.context().cookies()).filter(({ name }) => name !== "lyceum-zone");
  const views = [];
  const best = () => Math.min(...views.map(({ usable }) => usable));
  do views.push(await firstView(t, kit, cookies));
  while (views.length < VIEWS && best() > USABLE_MAX_MS);
  const [usable, bytes] = [best(), Math.max(...views.map(({ bytes }) => bytes))];
  t.diagnostic(`the first view: ${bytes} bytes, usable after ${usable} ms`);
  assert.ok(bytes > 0 && bytes <= FIRST_VIEW_MAX_BYTES, `${bytes} bytes`);
  assert.ok(usable <= USABLE_MAX_MS, `${usable} ms`);

  // By keyboard: past the navigation, and into it on a small screen.
  await page.goto("/console");
  await page.keyboard.press("Tab");
  await page.waitForSelector(".skip:focus");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#main:focus");
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("/console");
  assert.equal(await page.isVisible("#navigation"), false);
  await tabTo(page, "button.menu");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#navigation a:visible");
  await page.keyboard.press("Escape");
  await page.waitForSelector("#navigation", { state: "hidden" });
  assert.deepEqual(faults, []);

  const answer = await fetch(`${kit.server.base}/console`, { redirect: "manual" });
  assert.equal(answer.status, 303);
  const shown = await page.goto("/console");
  const policy = shown.headers()["content-security-policy"];
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe/);
  const style = await page.getAttribute("link[rel=stylesheet]", "href");
  const file = await fetch(kit.server.base + style);
  assert.match(file.headers.get("cache-control"), /immutable/);
}

/** How long it takes until a page is there, in the browser's own zone, and what comes over the network for it. */
async function firstView(t, kit, cookies) {
  const { page } = await kit.newPage(t);
  await page.context().addCookies(cookies);
  const sizes = [];
  page.on("requestfinished", async (request) => {
    const size = await request.sizes().catch(() => ({ responseBodySize: 0, responseHeadersSize: 0 }));
    sizes.push(size.responseBodySize + size.responseHeadersSize);
  });
  const began = Date.now();
  await page.goto("/console");
  await page.waitForFunction((zone) => document.documentElement.dataset.zone === zone && document.readyState === "complete", ZONE);
  const usable = Date.now() - began;
  return { usable, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}
