// Each template as a newcomer uses it: created, installed by npm from the packed tarballs, checked, built, and run in
// the browser beside a sandbox.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { promisify } from "node:util";

import { Vite } from "../vite/tests/vite.js";
import { launch } from "./chromium.js";
import { publish } from "./packages.js";
import { binary, folder } from "./server.js";

/** These tests drive the program; `LYCEUM_TEST_BIN` names it. */
const skip = binary ? false : "LYCEUM_TEST_BIN names no program";
const run = promisify(execFile);
const read = (file) => JSON.parse(readFileSync(file, "utf8"));

/** Variables with which npm finds the packages. */
let registry;
before(async () => {
  if (binary) registry = await publish();
});

test("an app in TypeScript teaches and scores", { skip }, async (t) => {
  const page = await opened(t, "vanilla");
  await page.getByText("Hello demo!").waitFor();
  await calculates(page);
});

test("an app with React teaches and scores", { skip }, async (t) => {
  const page = await opened(t, "react");
  await page.getByText("Hello demo!").waitFor();
  await calculates(page);
});

test("an app with a backend uses its database, stores, secret and other routes, and teaches", { skip }, async (t) => {
  const root = await created("backend");
  const types = readFileSync(join(root, "lyceum-env.d.ts"), "utf8");
  const { page, vite } = await shown(t, root);
  await page.getByText(/This is visit 1\. Your code is [0-9a-f]{8}\./).waitFor();
  await page.getByLabel("Write a note:").fill("Rivers are long");
  await page.getByRole("button").click();
  await page.getByText("demo: Rivers are long").waitFor();
  await page.getByText("You earned 1 XP.").waitFor();
  const address = new URL("/api/files/map.txt", vite.url);
  const headers = { "content-type": "text/plain" };
  const put = await fetch(address, { method: "PUT", headers, body: "a map" });
  assert.deepEqual([put.status, await put.json()], [201, { size: 5 }]);
  const got = await fetch(address);
  assert.deepEqual([got.headers.get("content-type"), await got.text()], ["text/plain", "a map"]);
  const book = await fetch(new URL(await page.getByRole("link").getAttribute("href"), vite.url));
  assert.equal(await book.text(), "demo: Rivers are long\n");
  assert.equal(readFileSync(join(root, "lyceum-env.d.ts"), "utf8"), types, "`lyceum dev` writes the same types");
});

test("lessons are shown and scored", { skip }, async (t) => {
  const root = await created("lessons");
  const { vite, tab } = await shown(t, root);
  const question = tab.getByRole("group", { name: "Which river flows through Cairo?" });
  await question.getByLabel("The Rhine").check();
  await question.locator("..").getByText("Score: 0").waitFor();
  await question.getByLabel("The Nile").check();
  await question.locator("..").getByText("Score: 1").waitFor();
  await tab.getByRole("group", { name: "Where does a river begin?" }).waitFor();
  const env = { ...process.env, LYCEUM_URL: undefined };
  const url = vite.sandbox.replace(/\/api$/, "");
  await run(join(root, "node_modules/.bin/lyceum"), ["lms", "setup", "--url", url], { cwd: root, env });
});

test("templates use the versions that are tested here", () => {
  const tested = { ...read(new URL("../package.json", import.meta.url)).devDependencies };
  const { hono } = read(new URL("../../tests/deploy/package.json", import.meta.url)).dependencies;
  const { version } = read(new URL("../sdk/package.json", import.meta.url));
  for (const name of ["@lyceum/cli", "@lyceum/sdk", "@lyceum/vite"]) tested[name] = "^{{version}}";
  tested.hono = `^${hono}`;
  for (const template of ["vanilla", "react", "backend", "lessons"]) {
    const file = new URL(`../../crates/lyceum/templates/${template}/package.json`, import.meta.url);
    const { dependencies, devDependencies } = read(file);
    for (const [name, wanted] of Object.entries({ ...dependencies, ...devDependencies }))
      assert.equal(wanted, tested[name], `${name} in ${template}`);
  }
  const create = read(new URL("../create/package.json", import.meta.url));
  assert.deepEqual([create.version, create.dependencies], [version, { "@lyceum/cli": version }]);
});

test("`npm create lyceum` creates the same project", { skip }, async () => {
  const root = folder();
  const manifest = { name: "here", devDependencies: { "create-lyceum": "*", "@lyceum/cli": "*" } };
  writeFileSync(join(root, "package.json"), JSON.stringify(manifest));
  await run("npm", ["install"], { cwd: root, env: registry });
  const words = ["rivers", "--template", "react", "--no-install", "--json"];
  const { stdout } = await run(join(root, "node_modules/.bin/create-lyceum"), words, { cwd: root });
  const { files } = JSON.parse(stdout);
  assert.ok(files.includes("src/app.tsx") && files.every((file) => existsSync(join(root, "rivers", file))), files);
});

/** A project of a template, installed, checked and built. */
async function created(template) {
  const root = join(folder(), "rivers");
  await run(binary, ["create", root, "--template", template, "--name", "Long Rivers"], { env: registry });
  await run("npm", ["run", "check"], { cwd: root });
  await run("npm", ["run", "build"], { cwd: root });
  const built = readFileSync(join(root, "dist/index.html"), "utf8");
  assert.match(built, /<title>Long Rivers.*<\/title>/);
  return root;
}

/** `npm run dev` of a project, its page, and the app in the page. */
async function shown(t, root) {
  const browser = await launch(t);
  const vite = await Vite.start(t, root, { LYCEUM_BIN: undefined }, ["npm", "run", "dev", "--"]);
  const tab = await browser.newPage();
  tab.on("pageerror", (error) => t.diagnostic(`the page failed: ${error}`));
  await tab.goto(vite.url);
  return { vite, tab, page: tab.frameLocator("iframe") };
}

async function opened(t, template) {
  const { page } = await shown(t, await created(template));
  return page;
}

/** Answers the five questions, the last one wrong. */
async function calculates(page) {
  for (let number = 1; number <= 5; number++) {
    const question = page.locator("label", { hasText: `${number}. How much is` });
    await question.waitFor();
    const [left, right] = (await question.textContent()).match(/\d+(?= ×|\?)/g).map(Number);
    await page.locator("input").fill(String(number === 5 ? 0 : left * right));
    await page.getByRole("button").click();
  }
  await page.getByText(/^4 of 5 are correct\. You earned [\d.]+ XP\.$/).waitFor();
}
