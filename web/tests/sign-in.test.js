// Signing in and letting `lyceum login` in, in a real browser: by keyboard alone, on small and large
// screens, light and dark, without scripts.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";

import { launch, takePicture } from "./chromium.js";
import { Server, binary, folder } from "./server.js";

/** These tests drive the program; `LYCEUM_TEST_BIN` names it. */
const skip = binary ? false : "LYCEUM_TEST_BIN names no program";
const PASSWORD = "correct horse";
const SIZES = [
  { width: 390, height: 844 },
  { width: 1280, height: 800 },
];

/** A page of a browser in which nothing of the page may go wrong. */
async function open(t, browser, options) {
  const context = await browser.newContext(options);
  t.after(() => context.close());
  const page = await context.newPage();
  const faults = [];
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("request", (request) => !request.url().startsWith(options.baseURL) && !request.url().startsWith("data:") && faults.push(request.url()));
  return { page, faults };
}

/** Presses Tab until the element has the focus. */
async function tabTo(page, selector) {
  for (let tries = 0; tries < 20; tries += 1) {
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`${selector} cannot be reached by keyboard`);
}

/** Nothing sticks out of the screen, and every control has a name and is large enough to be touched. */
async function isTidy(page) {
  const seen = await page.evaluate(() => ({
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    unnamed: [...document.querySelectorAll("input:not([type=hidden])")].filter((input) => !input.labels.length).length,
    small: [...document.querySelectorAll("button, input:not([type=hidden])")].filter((one) => one.getBoundingClientRect().height < 24).length,
    headings: document.querySelectorAll("h1").length,
  }));
  assert.deepEqual(seen, { wide: 0, unnamed: 0, small: 0, headings: 1 }, page.url());
}

const luminance = (rgb) => {
  const [r, g, b] = rgb.match(/\d+/g).slice(0, 3).map((part) => {
    const value = Number(part) / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};

/** The contrast of the main button and of the text (WCAG 2.2, 1.4.3). */
async function isReadable(page) {
  const pairs = await page.evaluate(() =>
    ["button.main", "main", ".soft"].flatMap((selector) => {
      const one = document.querySelector(selector);
      if (!one) return [];
      const back = selector === ".soft" ? document.querySelector("main") : one;
      return [[getComputedStyle(one).color, getComputedStyle(back).backgroundColor]];
    }),
  );
  for (const [text, back] of pairs) {
    const [light, dark] = [luminance(text), luminance(back)].sort((a, b) => b - a);
    assert.ok((light + 0.05) / (dark + 0.05) >= 4.5, `${text} on ${back}`);
  }
}

test("somebody lets the command line in by keyboard alone, with scripts off", { skip }, async (t) => {
  const server = await Server.start(t);
  const browser = await launch(t);
  const base = { baseURL: server.base };
  const first = await open(t, browser, { ...base, javaScriptEnabled: false, viewport: SIZES[0] });
  await first.page.goto("/");
  assert.equal(new URL(first.page.url()).pathname, "/sign-in");
  assert.match(await first.page.textContent("main"), /lyceum admin user create you@example.org --role administrator/);

  const create = ["admin", "user", "create", "ada@example.org", "--name", "Ada <b>L</b>", "--role", "developer"];
  const link = server.lyceum(...create).trim().replace(/^http:\/\/[^/]+/, server.base);
  const home = folder();
  const env = { PATH: process.env.PATH, XDG_CONFIG_HOME: join(home, "config"), XDG_STATE_HOME: join(home, "state") };

  const { page, faults } = await open(t, browser, { ...base, viewport: SIZES[0] });
  await page.goto(link);
  await isTidy(page);
  assert.match(await page.textContent("h1"), /Welcome, Ada <b>L<\/b>/);
  await tabTo(page, "#password");
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press("Enter");
  await page.waitForURL("**/console");
  await page.goto("/sign-in");
  assert.equal(await page.textContent("h1"), "You are signed in");
  await tabTo(page, "button");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#email");
  assert.deepEqual(faults, []);

  const login = spawn(binary, ["login", "--env", "production", "--server", server.base], { env, stdio: ["ignore", "pipe", "pipe"] });
  t.after(() => login.kill());
  // It may end before anybody looks at the last page.
  const ended = once(login, "exit");
  const [line] = await once(createInterface({ input: login.stdout }), "line");
  const [, shown, code] = /^Open (\S+) in a browser and compare the code: (\S+)$/.exec(line);

  const plain = await open(t, browser, { ...base, javaScriptEnabled: false, viewport: SIZES[1] });
  await plain.page.goto(shown);
  await plain.page.waitForSelector("#email:focus");
  await plain.page.keyboard.type("ada@example.org");
  await plain.page.keyboard.press("Tab");
  await plain.page.keyboard.type("wrong password");
  await plain.page.keyboard.press("Enter");
  assert.match(await plain.page.textContent("[role=alert]"), /wrong/);
  await plain.page.waitForSelector("#password:focus");
  await plain.page.keyboard.type(PASSWORD);
  await plain.page.keyboard.press("Enter");
  await plain.page.waitForSelector("text=Give the command line access?");
  assert.equal((await plain.page.textContent("p.code")).trim(), code);
  // Enter would not let anything in by itself: the button must be chosen.
  await plain.page.keyboard.press("Tab");
  await plain.page.waitForSelector("button[value=approve]:focus");
  await plain.page.keyboard.press("Enter");
  assert.match(await plain.page.textContent("[role=status]"), /Go back to your terminal/);
  const [status] = await ended;
  assert.equal(status, 0);
  const me = JSON.parse(execFileSync(binary, ["me", "--env", "production", "--json"], { env }));
  assert.equal(me.email, "ada@example.org");
});

test("the pages fit small and large screens, light and dark", { skip }, async (t) => {
  const server = await Server.start(t);
  const browser = await launch(t);
  const link = server.lyceum("admin", "user", "create", "ada@example.org", "--role", "guide").trim();
  for (const viewport of SIZES) {
    for (const colorScheme of ["light", "dark"]) {
      const { page, faults } = await open(t, browser, { baseURL: server.base, viewport, colorScheme });
      const form = new URLSearchParams({ client_id: "lyceum-cli" });
      const asked = await fetch(`${server.base}/oauth2/device_authorization`, { method: "POST", body: form });
      const { user_code: code } = await asked.json();
      const look = async (name) => {
        await isTidy(page);
        await isReadable(page);
        await takePicture(page, `${name}-${viewport.width}-${colorScheme}`);
      };
      await page.goto(link.replace(/^http:\/\/[^/]+/, server.base));
      if (await page.isVisible("#password")) {
        await look("welcome");
        await page.fill("#password", PASSWORD);
        await page.keyboard.press("Enter");
        await page.waitForURL("**/console");
        await page.goto("/sign-in");
        await page.click("text=Sign out");
      }
      await page.goto(`/device?user_code=${code}`);
      await look("sign-in");
      await page.fill("#email", "ada@example.org");
      await page.fill("#password", PASSWORD);
      await page.click("button.main");
      await page.waitForSelector("p.code");
      await look("decide");
      await page.click("text=Deny");
      await look("refused");
      await page.goto("/device");
      await look("type");
      await page.fill("#user_code", code.toLowerCase());
      await page.keyboard.press("Enter");
      await page.waitForSelector("[role=alert]");
      // What the server answers with 404 is told in the console, and nothing else is.
      assert.deepEqual(faults.filter((fault) => !fault.includes("404")), []);
    }
  }
});
