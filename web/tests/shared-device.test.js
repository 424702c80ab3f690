// Students use one device one after the other: nothing of the first is shown or sent in the session of the next, or left in the
// browser.
import assert from "node:assert/strict";
import { test } from "node:test";

import { STEP_MAX_MS, launch } from "./chromium.js";
import { Course, signInStudent } from "./course.js";
import { ITEMS, itemXml } from "./interactions/items.js";
import { Server, binary, until } from "./server.js";

const skip = binary ? false : "LYCEUM_TEST_BIN names no program";
const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEklEQVR4nGNk+M8ABAzIFAAjIQMBQ7IzKAAAAABJRU5ErkJggg==", "base64");
const QUESTION = {
  correct: "A",
  body: `<p>A secret plan <img src="dot.png" alt="A dot"/></p><qti-choice-interaction response-identifier="RESPONSE" max-choices="1">
    <qti-simple-choice identifier="A">yes</qti-simple-choice><qti-simple-choice identifier="B">no</qti-simple-choice></qti-choice-interaction>`,
};

async function begin(t) {
  const server = await Server.start(t);
  const course = await Course.create(server, "amy", "bob");
  for (const [name, item] of Object.entries({ plan: QUESTION, choice: ITEMS.choice })) {
    await server.call("POST", "/assessment-items", { format: "xml", xml: itemXml(name, item), metadata: { humanApproved: true } });
  }
  const headers = { authorization: `Bearer ${server.token}`, "content-type": "image/png" };
  const stored = await fetch(`${server.base}/assessment-items/plan/files/dot.png`, { method: "PUT", headers, body: PNG });
  assert.equal(stored.status, 200);
  await course.questions("quiz", "quiz", ["plan", "choice"]);
  // The browser keeps pages for its back button, as browsers of students do.
  const browser = await launch(t, [], ["--disable-back-forward-cache"]);
  const context = await browser.newContext({ baseURL: server.base, reducedMotion: "reduce" });
  context.setDefaultTimeout(STEP_MAX_MS);
  const page = await context.newPage();
  await signInStudent(page, server, "amy");
  return { server, context, page };
}

async function open(page) {
  await page.goto("/learn/lessons/quiz");
  const start = page.getByRole("button", { name: "Start" });
  const question = page.getByRole("heading", { name: "Question 1 of 2" });
  await start.or(question).waitFor();
  if (await start.isVisible()) await start.click();
  await question.waitFor();
}

/** What the log has of a student's answers. */
async function answered(server, student) {
  const { log } = await server.call("GET", `/adaptive/getAttemptLog?student=${student}&lesson=quiz`);
  return log.filter(({ answered }) => answered).length;
}

/** What the browser has stored for the pages of the server. */
const left = (page) =>
  page.evaluate(async () => ({
    local: Object.keys(localStorage),
    session: Object.keys(sessionStorage),
    caches: await caches.keys(),
    databases: (await indexedDB.databases()).map(({ name }) => name),
  }));

const NOTHING = { local: [], session: [], caches: [], databases: [] };

test("a tab of the student before shows and sends nothing in another session", { skip }, async (t) => {
  const { server, context, page } = await begin(t);
  const old = await context.newPage();
  await open(old);
  await old.locator("input[value=A]").check();
  await old.route("**/answers", (route) => route.abort());
  await old.getByRole("button", { name: "Next" }).click();
  await old.getByText("1 answer is saved on this device").waitFor();

  // The session of Amy is gone, and Bob signs in.
  await context.clearCookies();
  await old.unroute("**/answers");
  await signInStudent(page, server, "bob");
  await old.getByRole("link", { name: "bob S" }).waitFor();
  assert.doesNotMatch(await old.locator("main").textContent(), /secret plan/);
  await open(page);
  assert.deepEqual([await answered(server, "amy"), await answered(server, "bob")], [0, 0]);
  assert.deepEqual((await left(page)).local, []);

  // Bob's own answer arrives.
  await page.locator("input[value=A]").check();
  await page.getByRole("button", { name: "Next" }).click();
  await until("the answer", async () => (await answered(server, "bob")) === 1);
  assert.equal(await answered(server, "amy"), 0);
});

test("signing out leaves nothing of a student", { skip }, async (t) => {
  const { server, context, page } = await begin(t);
  const other = await context.newPage();
  await open(other);
  await open(page);
  await page.getByLabel("Text size").selectOption({ index: 1 });
  const picture = await page.locator(".item img").getAttribute("src");
  assert.equal((await page.request.get(picture)).status(), 200);
  await page.route("**/answers", (route) => route.abort());
  await page.locator("input[value=A]").check();
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByText("1 answer is saved on this device").waitFor();
  const before = await left(page);
  assert.ok(before.local.length > 0 && before.session.length > 0, JSON.stringify(before));

  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL("**/sign-in*");
  assert.deepEqual(await left(page), NOTHING);
  // The other tab shows the lesson no longer.
  await other.waitForURL("**/sign-in*");
  // The picture is not in the browser's cache.
  assert.equal((await page.goto(picture)).status(), 401);
  for (let steps = 0; steps < 8; steps += 1) {
    await page.goBack().catch(() => {});
    const text = await until("a page", () => page.evaluate(() => document.body.innerText || "an empty page").catch(() => ""));
    assert.doesNotMatch(text, /amy|secret plan/, page.url());
  }
  assert.equal(await answered(server, "amy"), 0);
});

test("a session that ended elsewhere leaves nothing either", { skip }, async (t) => {
  const { server, page } = await begin(t);
  await open(page);
  await page.route("**/answers", (route) => route.abort());
  await page.locator("input[value=A]").check();
  await page.getByRole("button", { name: "Next" }).click();
  await page.getByText("1 answer is saved on this device").waitFor();
  server.lyceum("admin", "user", "disable", "amy@example.org");
  await page.goto("/learn");
  await page.waitForURL("**/sign-in*");
  assert.deepEqual(await left(page), NOTHING);
});
