// A class works through a course in real browsers while its teacher watches, the server is killed and a network is cut:
// nothing is lost, nothing counts twice, and the teacher's page is right at once.
import assert from "node:assert/strict";
import { test } from "node:test";

import { STEP_MAX_MS, launch, takePicture } from "./chromium.js";
import { Course, signInStudent } from "./course.js";
import { signIn } from "./console/kit.js";
import { ITEMS, itemXml } from "./interactions/items.js";
import { Server, binary, until } from "./server.js";

const skip = binary ? false : "LYCEUM_TEST_BIN names no program";
const isFull = process.env.LYCEUM_TEST_SIZE === "full";
const STUDENTS = isFull ? 30 : 4;
const KILLS = isFull ? 2 : 1;
const QUESTIONS = isFull ? 12 : 6;
/** What a lesson receives is on the teacher's page within this time. */
const LIVE_MAX_MS = isFull ? 2000 : 10_000;
const NAMES = Array.from({ length: STUDENTS }, (_, at) => `student-${at}`);
const LESSONS = ["first", "second"];

/** A text entry whose answer says who gave it, so that each browser's answers can be told apart. */
const entry = (name) =>
  itemXml(name, {
    baseType: "string",
    correct: "yes",
    body: `<p>Question ${name}: <qti-text-entry-interaction response-identifier="RESPONSE"/></p>`,
  });

/** A student at a browser, with the own tally of what the server confirmed. */
class Learner {
  /** By lesson, the answers that the server confirmed, by question. */
  confirmed = { first: new Map(), second: new Map() };

  constructor(name, context, page) {
    Object.assign(this, { name, context, page });
  }

  static async enter(browser, server, name) {
    const context = await browser.newContext({ baseURL: server.base, viewport: { width: 900, height: 700 }, reducedMotion: "reduce" });
    const page = await context.newPage();
    page.setDefaultTimeout(STEP_MAX_MS);
    const learner = new Learner(name, context, page);
    page.on("response", (response) => void learner.#note(response));
    await signInStudent(page, server, name);
    return learner;
  }

  async #note(response) {
    const lesson = /\/api\/learn\/lessons\/([^/]+)\/answers$/.exec(response.url())?.[1];
    if (!lesson || response.status() !== 200) return;
    const { question, responses } = response.request().postDataJSON();
    this.confirmed[lesson].set(question, responses.RESPONSE);
  }

  /** Works through a quiz; every answer names the student and the question. */
  async work(lesson) {
    const { page } = this;
    // The server or the network may be away.
    await until(`the page of ${lesson}`, () => page.goto(`/learn/lessons/${lesson}`).then(() => true, () => false), STEP_MAX_MS);
    await page.getByRole("button", { name: "Start" }).click();
    for (let number = 1; number <= QUESTIONS; number += 1) {
      await page.getByRole("heading", { name: `Question ${number} of ${QUESTIONS}` }).waitFor();
      await page.getByRole("textbox").fill(number % 3 === 0 ? "yes" : `${this.name} ${lesson} ${number}`);
      await page.locator("button.main").click();
    }
    await page.getByRole("button", { name: "Finish" }).click();
    await page.getByText("Your score is").waitFor();
  }
}

/** What the server has of a student's lesson: answers by question, and how often each was answered. */
async function stored(server, student, lesson) {
  const { log } = await server.call("GET", `/adaptive/getAttemptLog?student=${student}&lesson=${lesson}`);
  return log.filter(({ answered }) => answered).map(({ item, answered }) => [item, answered.responses.RESPONSE]);
}

test("a class learns while the server is killed and a network is cut", { skip, timeout: isFull ? 1_500_000 : 480_000 }, async (t) => {
  const server = await Server.start(t, (server) => {
    if (process.env.LYCEUM_TEST_DATABASE) server.env = { LYCEUM_STORE__DATABASE: process.env.LYCEUM_TEST_DATABASE };
  });
  const course = await Course.create(server, ...NAMES);
  const items = Array.from({ length: QUESTIONS }, (_, at) => `item-${at}`);
  for (const name of items) await server.call("POST", "/assessment-items", { format: "xml", xml: entry(name), metadata: { humanApproved: true } });
  for (const lesson of LESSONS) await course.questions(lesson, "quiz", items);
  const browser = await launch(t);

  // The teacher's screen.
  const teacher = await browser.newContext({ baseURL: server.base, viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
  const today = await teacher.newPage();
  await signIn(today, server, "guide");
  await today.goto("/console/today?group=working");
  await today.waitForSelector("[data-follow].good");

  const learners = [];
  for (const name of NAMES) learners.push(await Learner.enter(browser, server, name));

  // The server is killed while answers are on their way, and one network is cut and comes back.
  let answers = 0;
  const disturb = (async () => {
    const [cut] = learners;
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const due = (STUDENTS * QUESTIONS * LESSONS.length * kill) / (KILLS + 2);
      await until("some answers", () => learners.reduce((sum, { confirmed }) => sum + confirmed.first.size + confirmed.second.size, 0) >= due, STEP_MAX_MS);
      if (kill === 1) await cut.context.setOffline(true);
      await server.kill();
      await new Promise((resolve) => setTimeout(resolve, 500));
      await server.run();
      if (kill === 1) {
        await new Promise((resolve) => setTimeout(resolve, 2000));
        await cut.context.setOffline(false);
      }
    }
  })();
  await Promise.all([disturb, ...learners.map(async (learner) => {
    for (const lesson of LESSONS) await learner.work(lesson);
  })]);

  // Each browser's own tally is what the server has, once.
  for (const { name, confirmed } of learners) {
    for (const lesson of LESSONS) {
      const log = await stored(server, name, lesson);
      answers += log.length;
      assert.equal(log.length, QUESTIONS, `${name} ${lesson}: ${JSON.stringify(log)}`);
      assert.deepEqual(new Map(log.toSorted()), new Map([...confirmed[lesson]].toSorted()), `${name} ${lesson}`);
      const { attempts } = await server.call("GET", `/adaptive/getAttempts?student=${name}&lesson=${lesson}`);
      assert.equal(attempts.length, 1, `${name} ${lesson}`);
      const expected = Math.floor((Math.floor(QUESTIONS / 3) * 10_000) / QUESTIONS) / 100;
      assert.equal(attempts[0].score, expected, `${name} ${lesson}`);
    }
    // Attempts, results and events agree about what was earned.
    const { attempts: earned } = await totals(server, name);
    const { facts } = await server.call("GET", `/bridge/analytics/activity?studentId=${name}&startDate=2000-01-01&endDate=2100-01-01`);
    const days = Object.values(facts).flatMap((subjects) => Object.values(subjects));
    const sum = (metric) => days.reduce((sum, { activityMetrics }) => sum + activityMetrics[metric], 0);
    assert.equal(sum("totalQuestions"), LESSONS.length * QUESTIONS, name);
    assert.equal(sum("correctQuestions"), LESSONS.length * Math.floor(QUESTIONS / 3), name);
    assert.equal(sum("xpEarned"), earned.xp, name);
    const filter = encodeURIComponent(`student.sourcedId='${name}' AND status='active'`);
    const { assessmentResults } = await server.call("GET", `/ims/oneroster/gradebook/v1p2/assessmentResults?limit=1000&filter=${filter}`);
    const xp = assessmentResults.reduce((sum, { metadata }) => sum + (metadata?.xp ?? 0), 0);
    assert.equal(xp, earned.xp, name);
  }
  t.diagnostic(`${STUDENTS} students, ${answers} answers, ${KILLS} kills`);

  // The teacher's page, which was open all the time, follows the next answer within two seconds.
  const seen = await Promise.all(["working", "idle"].map(async (group) => (await teacher.request.get(`/console/today?group=${group}&export=json`)).json()));
  assert.equal(seen.flat().length, STUDENTS);
  await takePicture(today, "classroom-today");
  const [one] = learners;
  await one.page.goto("/learn/lessons/first");
  await one.page.getByRole("button", { name: "Try again" }).click();
  await one.page.getByRole("textbox").fill("yes");
  const expected = Math.round(((LESSONS.length * Math.floor(QUESTIONS / 3) + 1) * 100) / (LESSONS.length * QUESTIONS + 1));
  const row = today.locator(".list tbody tr", { hasText: `${one.name} ` }).locator("td:nth-child(5)", { hasText: `${expected}%` });
  assert.equal(await row.count(), 0);
  await Promise.all([one.page.waitForResponse("**/answers"), one.page.locator("button.main").click()]);
  const since = performance.now();
  await row.waitFor({ timeout: LIVE_MAX_MS });
  t.diagnostic(`Today followed after ${Math.round(performance.now() - since)} ms`);
});

/** The sums over a student's attempts. */
async function totals(server, student) {
  const sums = { xp: 0 };
  for (const lesson of LESSONS) {
    const { attempts } = await server.call("GET", `/adaptive/getAttempts?student=${student}&lesson=${lesson}`);
    for (const { xp } of attempts) sums.xp += xp ?? 0;
  }
  return { attempts: sums };
}
