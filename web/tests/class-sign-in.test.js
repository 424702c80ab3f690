// Sign-in in class in a real browser: a teacher gives access and opens the class, and two students use one device after
// the other. Nothing of the first is left for the second.
import assert from "node:assert/strict";
import { test } from "node:test";

import { STEP_MAX_MS, launch, takePicture } from "./chromium.js";
import { axe, signIn, tabTo } from "./console/kit.js";
import { Server, binary, until } from "./server.js";

/** These tests drive the program; `LYCEUM_TEST_BIN` names it. */
const skip = binary ? false : "LYCEUM_TEST_BIN names no program";
const ROSTERING = "/ims/oneroster/rostering/v1p2";
const SIZES = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
];
/** The next student starts within this time after the first has signed out. */
const CHANGE_MAX_MS = 10_000;

/** A class of three students. */
async function classroom(server) {
  const create = (kind, one, record) => server.call("POST", `${ROSTERING}/${kind}`, { [one]: record });
  await create("orgs", "org", { sourcedId: "s", name: "Hill School", type: "school" });
  await create("academicSessions", "academicSession", { sourcedId: "term", title: "Term", type: "term", schoolYear: "2026", startDate: "2026-01-01", endDate: "2027-12-31" });
  await create("courses", "course", { sourcedId: "k", title: "Counting", org: { sourcedId: "s" } });
  await create("classes", "class", { sourcedId: "c", title: "Class 1a", classType: "homeroom", course: { sourcedId: "k" }, school: { sourcedId: "s" }, terms: [{ sourcedId: "term" }] });
  for (const [id, givenName] of [["ann", "Ann"], ["bob", "Bob"], ["cleo", "Cleopatra Wilhelmina"]]) {
    const roles = [{ roleType: "primary", role: "student", org: { sourcedId: "s" } }];
    await create("users", "user", { sourcedId: id, enabledUser: true, givenName, familyName: "Example", grades: ["01"], roles });
    await create("enrollments", "enrollment", { sourcedId: `e-${id}`, role: "student", user: { sourcedId: id }, class: { sourcedId: "c" }, school: { sourcedId: "s" } });
  }
}

/** The page fits, has one heading, and axe-core finds no serious fault, on small and large screens, light and dark. */
async function look(page, name) {
  await page.evaluate(axe);
  for (const viewport of SIZES) {
    for (const colorScheme of ["light", "dark"]) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      const seen = await page.evaluate(async () => {
        const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
        const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
        const root = document.documentElement;
        return { faults: serious.map(({ id, nodes }) => `${id}: ${nodes[0].html}`), wide: root.scrollWidth - root.clientWidth, headings: document.querySelectorAll("h1").length };
      });
      assert.deepEqual(seen, { faults: [], wide: 0, headings: 1 }, `${name}, ${viewport.width} px, ${colorScheme}`);
      await takePicture(page, `${name}-${viewport.width}-${colorScheme}`);
    }
  }
}

test("two students use one device one after the other", { skip }, async (t) => {
  const server = await Server.start(t, () => {});
  await classroom(server);
  const browser = await launch(t);
  const open = async (options) => {
    const context = await browser.newContext({ baseURL: server.base, viewport: SIZES[0], ...options });
    t.after(() => context.close());
    const page = await context.newPage();
    page.setDefaultTimeout(STEP_MAX_MS);
    return page;
  };

  const teacher = await open();
  await signIn(teacher, server, "guide");
  await teacher.goto("/console/classes/c");
  await teacher.click("text=Student access");
  await look(teacher, "student-access-before");
  await teacher.click("text=Give students access with pictures");
  await teacher.fill("#minutes", "20");
  await teacher.click("text=Open the class");
  const code = (await teacher.textContent("p.code")).trim();
  assert.match(code, /^[A-Z]{3}-[A-Z]{3}$/);
  await look(teacher, "student-access");
  await teacher.click("text=Print cards");
  await look(teacher, "cards");
  const cards = await teacher.$$eval(".student-card", (cards) =>
    cards.map((card) => [card.querySelector("strong").textContent, [...card.querySelectorAll("img")].map(({ alt }) => alt)]),
  );
  const pictures = Object.fromEntries(cards);
  assert.deepEqual(Object.values(pictures).map(({ length }) => length), [2, 2, 2]);

  const device = await open();
  const faults = [];
  device.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  device.on("pageerror", (error) => faults.push(String(error)));
  device.on("request", (request) => !request.url().startsWith(server.base) && !request.url().startsWith("data:") && faults.push(request.url()));
  await device.goto("/sign-in");
  await look(device, "sign-in");
  await device.click("text=Sign in with the code of a class");
  await look(device, "class-code");
  await device.setViewportSize(SIZES[0]);

  // The first student, by keyboard alone.
  await tabTo(device, "#code");
  await device.keyboard.type(code.toLowerCase());
  await device.keyboard.press("Enter");
  await device.waitForSelector("text=Who are you?");
  await look(device, "class-names");
  assert.deepEqual(await device.locator(".names a").allTextContents(), ["Ann E.", "Bob E.", "Cleopatra Wilhelmina E."]);
  await tabTo(device, ".names a");
  await device.keyboard.press("Enter");
  await device.waitForSelector("text=first picture");
  await look(device, "class-pictures");
  for (const [at, name] of pictures["Ann Example"].entries()) {
    const button = `button[name=${at === 0 ? "first" : "second"}][value=${name}]`;
    await device.waitForSelector(button);
    await tabTo(device, button);
    await device.keyboard.press("Enter");
  }
  await device.waitForURL("**/learn");
  assert.match(await device.textContent("header"), /Ann Example/);
  await look(device, "student-home");
  await device.setViewportSize(SIZES[0]);

  // What a page might leave on the device.
  await device.evaluate(async () => {
    localStorage.setItem("answer", "of Ann");
    sessionStorage.setItem("answer", "of Ann");
    const cache = await caches.open("lessons");
    await cache.put("/learn?of=ann", new Response("of Ann"));
    await new Promise((resolve) => {
      const request = indexedDB.open("lessons");
      request.onsuccess = () => resolve(request.result.close());
    });
  });
  const since = Date.now();
  await device.click("text=Sign out");
  await device.waitForSelector("text=Who are you?");
  await device.click("text=Bob E.");
  for (const [at, name] of pictures["Bob Example"].entries()) {
    await device.click(`button[name=${at === 0 ? "first" : "second"}][value=${name}]`);
  }
  await device.waitForURL("**/learn");
  const took = Date.now() - since;
  assert.match(await device.textContent("header"), /Bob Example/);
  assert.ok(took < CHANGE_MAX_MS, `the change took ${took} ms`);
  t.diagnostic(`the next student started ${took} ms after the sign-out`);

  const left = await device.evaluate(async () => ({
    local: localStorage.length,
    session: sessionStorage.length,
    caches: (await caches.keys()).length,
    databases: (await indexedDB.databases()).length,
  }));
  assert.deepEqual(left, { local: 0, session: 0, caches: 0, databases: 0 });
  // The history leads to no page of the first student.
  for (let steps = 0; steps < 12; steps += 1) {
    await device.goBack({ waitUntil: "load" }).catch(() => {});
    // A redirect may replace the page while it is read.
    const text = await until("a page", () => device.evaluate(() => document.body.innerText || "an empty page").catch(() => ""));
    assert.ok(!text.includes("Ann Example"), `${device.url()}: ${text}`);
  }
  assert.deepEqual(faults, []);

  // The teacher ends the lesson.
  await teacher.goto("/console/classes/c/access");
  await teacher.click("text=Close and sign everybody out");
  await device.goto("/learn");
  assert.match(await device.textContent("h1"), /Sign in with your class/);
});
