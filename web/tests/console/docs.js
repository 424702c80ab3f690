// The documentation: open to everybody, found by words, the explorer, commands made from the program.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";

import { binary } from "../server.js";
import { takePicture } from "../chromium.js";
import { axe, tabTo } from "./kit.js";

export default async function docs(t, kit) {
  // Nobody need be signed in.
  const { page, faults } = await kit.newPage(t);
  for (const path of ["/docs", "/docs/integrators", "/docs/commands", "/docs/limits", "/docs/decisions", "/docs/search?q=backup"]) {
    await page.goto(path);
    assert.equal(await page.locator("h1").count(), 1, path);
  }
  await kit.look("docs", "/docs");
  await kit.look("docs-integrators", "/docs/integrators");

  // Each link within the pages leads to a page, and each anchor to a heading.
  const seen = new Map();
  let found = ["/docs"];
  while (found.length > 0) {
    const read = async (path) => {
      const response = await fetch(kit.server.base + path);
      assert.equal(response.status, 200, path);
      seen.set(path, await response.text());
    };
    await Promise.all(found.map(read));
    const links = found.flatMap((path) => [...seen.get(path).matchAll(/<a href="(\/docs[^"#]*)/g)].map(([, path]) => path));
    found = [...new Set(links)].filter((path) => !seen.has(path));
  }
  for (const [path, html] of seen) {
    for (const [, to, anchor] of html.matchAll(/<a href="(\/docs[^"#]*)#([^"]+)"/g)) {
      assert.ok(seen.get(to)?.includes(`id="${anchor}"`), `${path} links to ${to}#${anchor}`);
    }
  }
  assert.ok(seen.size > 50, `${seen.size} pages`);

  // The program's own commands, each with its flags.
  const commands = seen.get("/docs/commands");
  for (const [, name] of execFileSync(binary, ["--help"], { encoding: "utf8" }).matchAll(/^ {2}([a-z]+) {2,}/gm)) {
    if (name !== "help") assert.match(commands, new RegExp(`lyceum ${name}</h3>`), name);
  }
  assert.ok(commands.includes("--keep-going") && commands.includes("LYCEUM_CLIENT_ID"));

  // What is typed is found at once, by keyboard alone; the form finds the same.
  await page.goto("/docs");
  await tabTo(page, "[data-docs-search] input");
  await page.keyboard.type("restore");
  // What fits the first letters is found before the rest is typed.
  const section = 'a[href="/docs/operators#backup-and-restore"]';
  await page.locator(`[data-found] ${section}`).waitFor();
  const href = await page.locator("[data-found] a").first().getAttribute("href");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/docs/search?q=restore");
  assert.equal(await page.locator("main .found a").first().getAttribute("href"), href);
  await page.locator(`main .found ${section}`).first().click();
  assert.equal(await page.locator("#backup-and-restore").textContent(), "Backup and restore");
  await page.goto("/docs/search?q=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E");
  assert.match(await page.textContent("main"), /No page contains all words of “<img src=x/);

  // Programs read the same.
  const overview = await (await page.request.get("/llms.txt")).text();
  const links = [...overview.matchAll(/\]\((\S+)\)/g)].map(([, link]) => link);
  assert.ok(links.length > 50);
  for (const link of links.slice(0, 12)) assert.equal((await page.request.get(link)).status(), 200, link);
  assert.match(await (await page.request.get("/docs/start.md")).text(), /^# Start here/);
  assert.equal((await page.request.get("/docs/nowhere")).status(), 404);

  // The explorer shows the operations of this server, without a request to another host.
  await page.goto("/docs/api");
  await page.locator("#explorer .opblock-tag").first().waitFor();
  assert.ok((await page.locator("#explorer .opblock-tag").count()) > 5);
  // Its words can be read in both themes: an open tag shows methods, paths and summaries.
  await page.evaluate(axe);
  await page.locator("#explorer .opblock-tag").first().click();
  await page.locator("#explorer .opblock").first().waitFor();
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    for (const viewport of [{ width: 1280, height: 800 }, { width: 390, height: 844 }]) {
      await page.setViewportSize(viewport);
      await takePicture(page, `docs-api-${viewport.width}-${colorScheme}`);
    }
    // Links of the explorer change their colour in a moment, not at once. A change that is cut short is over, too.
    await page.evaluate(() => Promise.all(document.getAnimations().map(({ finished }) => finished.catch(() => undefined))));
    const { violations } = await page.evaluate(() => window.axe.run("#explorer", { runOnly: ["color-contrast"] }));
    const faint = violations.flatMap(({ nodes }) => nodes.map(({ html, any }) => `${html.slice(0, 120)} ${any[0]?.message.slice(0, 160)}`));
    assert.deepEqual(faint.slice(0, 12), [], `${faint.length} in ${colorScheme}`);
  }
  assert.deepEqual(faults, []);
}
