// A test that is open in several tabs, or on a device that sleeps: every tab shows the same result, and no answer is lost.
import assert from "node:assert/strict";
import { test } from "node:test";

import { STEP_MAX_MS, launch } from "./chromium.js";
import { Course, signInStudent } from "./course.js";
import { itemXml } from "./interactions/items.js";
import { Server, binary, until } from "./server.js";

const skip = binary ? false : "LYCEUM_TEST_BIN names no program";
const NAMES = ["first", "second"];
/** A question whose right answer is A. */
const QUESTION = {
  correct: "A",
  body: `<qti-choice-interaction response-identifier="RESPONSE" max-choices="1"><qti-prompt>Is two even?</qti-prompt>
    <qti-simple-choice identifier="A">yes</qti-simple-choice><qti-simple-choice identifier="B">no</qti-simple-choice></qti-choice-interaction>`,
};

async function begin(t) {
  const server = await Server.start(t);
  const course = await Course.create(server, "amy");
  for (const name of NAMES) await server.call("POST", "/assessment-items", { format: "xml", xml: itemXml(name, QUESTION), metadata: { humanApproved: true } });
  const browser = await launch(t);
  const context = await browser.newContext({ baseURL: server.base, reducedMotion: "reduce" });
  context.setDefaultTimeout(STEP_MAX_MS);
  const errors = [];
  context.on("weberror", (error) => errors.push(String(error.error())));
  await signInStudent(await context.newPage(), server, "amy");
  return { server, course, context, errors };
}

async function open(context, lesson) {
  const page = await context.newPage();
  await page.goto(`/learn/lessons/${lesson}`);
  return page;
}

const heading = (page, number) => page.getByRole("heading", { name: `Question ${number} of 2` });
const choose = (page, choice) => page.locator(`input[value=${choice}]`).check();
const start = (page) => page.getByRole("button", { name: "Start" }).click();

/** What the log says that Amy answered. */
async function answered(server, lesson) {
  const { log } = await server.call("GET", `/adaptive/getAttemptLog?student=amy&lesson=${lesson}`);
  return log.filter(({ answered }) => answered).map(({ item, answered }) => [item, answered.responses.RESPONSE]);
}

/** All tabs show this result, without a notice. */
async function allShow(pages, result) {
  for (const page of pages) {
    await page.getByText(result).waitFor();
    assert.equal(await page.locator("[data-status]").textContent(), "");
  }
}

/** The page is hidden or seen again, as when a tablet is switched off and on. */
const turn = (page, state) =>
  page.evaluate((state) => {
    Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, state);

/** The device sleeps: the page's steady clock stands still from now on, and nothing runs. */
async function sleep(page, ms) {
  await page.evaluate(() => {
    const now = performance.now();
    performance.now = () => now;
  });
  const session = await page.context().newCDPSession(page);
  await session.send("Page.setWebLifecycleState", { state: "frozen" });
  await new Promise((resolve) => setTimeout(resolve, ms));
  await session.send("Page.setWebLifecycleState", { state: "active" });
}

test("a test that is open in two tabs ends in both", { skip }, async (t) => {
  const { server, course, context, errors } = await begin(t);

  await t.test("when one tab hands it in", async () => {
    await course.questions("quiz", "quiz", NAMES);
    const one = await open(context, "quiz");
    await start(one);
    await heading(one, 1).waitFor();
    const other = await open(context, "quiz");
    await heading(other, 1).waitFor();
    for (const number of [1, 2]) {
      await heading(one, number).waitFor();
      await choose(one, number === 1 ? "B" : "A");
      await one.locator("button.main").click();
    }
    await until("two answers", async () => (await answered(server, "quiz")).length === 2);
    // The other tab has a newer answer, which it has not sent.
    await choose(other, "A");
    await one.getByRole("button", { name: "Finish" }).click();
    await allShow([one, other], "2 of 2 answers correct");
    assert.deepEqual(await answered(server, "quiz"), [["first", "B"], ["second", "A"], ["first", "A"]]);
    // A tab that was frozen meanwhile does not stop the other one.
    await one.getByRole("button", { name: "Try again" }).click();
    await heading(one, 1).waitFor();
    await other.reload();
    await heading(other, 1).waitFor();
    for (const number of [1, 2]) {
      await heading(one, number).waitFor();
      await choose(one, "A");
      await one.locator("button.main").click();
    }
    const session = await context.newCDPSession(other);
    await session.send("Page.setWebLifecycleState", { state: "frozen" });
    await one.getByRole("button", { name: "Finish" }).click();
    await allShow([one], "2 of 2 answers correct");
    await session.send("Page.setWebLifecycleState", { state: "active" });
    await allShow([other], "2 of 2 answers correct");
    for (const page of [one, other]) await page.close();
  });

  await t.test("with answers from both", async () => {
    await course.questions("shared", "quiz", NAMES);
    const one = await open(context, "shared");
    await start(one);
    await heading(one, 1).waitFor();
    const other = await open(context, "shared");
    await heading(other, 1).waitFor();
    await choose(one, "A");
    await one.getByRole("button", { name: "Check my answers" }).click();
    await one.getByText("1 question has no answer yet.").waitFor();
    await other.getByRole("button", { name: "Next" }).click();
    await heading(other, 2).waitFor();
    await choose(other, "A");
    await other.locator("button.main").click();
    await until("both answers", async () => (await answered(server, "shared")).length === 2);
    await turn(one, "visible");
    await one.getByRole("button", { name: "Finish" }).click();
    await allShow([one, other], "2 of 2 answers correct");
    assert.equal((await answered(server, "shared")).length, 2);
    for (const page of [one, other]) await page.close();
  });

  await t.test("when the time is over", async () => {
    await course.questions("timed", "quiz", NAMES, { timeLimit: 8 });
    const one = await open(context, "timed");
    await start(one);
    await heading(one, 1).waitFor();
    const other = await open(context, "timed");
    await heading(other, 1).waitFor();
    await other.getByRole("button", { name: "Next" }).click();
    await heading(other, 2).waitFor();
    // Neither tab has sent its answer.
    await choose(one, "A");
    await choose(other, "A");
    assert.deepEqual(await answered(server, "timed"), []);
    await allShow([one, other], "2 of 2 answers correct");
    assert.deepEqual((await answered(server, "timed")).toSorted(), [["first", "A"], ["second", "A"]]);
    const { attempts } = await server.call("GET", "/adaptive/getAttempts?student=amy&lesson=timed");
    assert.deepEqual(attempts.map(({ score }) => score), [100]);
    for (const page of [one, other]) await page.close();
  });

  assert.deepEqual(errors, []);
});

test("a timed test goes on while the device sleeps", { skip }, async (t) => {
  const { server, course, context, errors } = await begin(t);

  await t.test("the time that is left and waiting answers", async () => {
    await course.questions("long", "quiz", NAMES, { timeLimit: 60 });
    const page = await open(context, "long");
    await start(page);
    await heading(page, 1).waitFor();
    await context.setOffline(true);
    await choose(page, "A");
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText("1 answer is saved on this device").waitFor();
    await sleep(page, 21_000);
    // Without a connection, the device's own clock says how long it slept.
    const shown = await page.getByRole("timer").textContent();
    const seconds = Number(/^Time left: (\d+) seconds$/.exec(shown)?.[1]);
    assert.ok(seconds <= 40, shown);
    await context.setOffline(false);
    await until("the answer", async () => (await answered(server, "long")).length === 1);
    // A page that is hidden may never be shown again, so it sends the answer that it shows.
    await heading(page, 2).waitFor();
    await choose(page, "B");
    await turn(page, "hidden");
    await until("both answers", async () => (await answered(server, "long")).length === 2);
    await server.call("POST", "/adaptive/finalStudentAssessmentResponse", { student: "amy", lesson: "long" });
    await turn(page, "visible");
    await page.getByText("1 of 2 answers correct").waitFor();
    assert.deepEqual(await answered(server, "long"), [["first", "A"], ["second", "B"]]);
    await page.close();
  });

  await t.test("a question is not shown after its time", async () => {
    await course.questions("short", "quiz", NAMES, { timeLimit: 8 });
    const page = await open(context, "short");
    await start(page);
    await heading(page, 1).waitFor();
    await choose(page, "A");
    await page.route("**/api/learn/**", (route) => route.abort());
    await sleep(page, 9_000);
    await page.getByRole("heading", { name: "The time is over" }).waitFor({ timeout: 2_000 });
    assert.equal(await heading(page, 1).count(), 0);
    await page.unroute("**/api/learn/**");
    await page.getByText("1 of 2 answers correct").waitFor();
    assert.deepEqual(await answered(server, "short"), [["first", "A"]]);
    await page.close();
  });

  assert.deepEqual(errors, []);
});
