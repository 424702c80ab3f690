// Learning against the program: what an activity earns, time that is told, nothing lost and nothing twice.
import assert from "node:assert/strict";
import { before, test } from "node:test";

import { launch } from "../../tests/chromium.js";
import { serve } from "../../tests/pages.js";
import { Server, binary, folder, until } from "../../tests/server.js";
import { Client } from "../dist/index.js";
import { fileStorage } from "../dist/node.js";

/** These tests drive the program; `LYCEUM_TEST_BIN` names it. */
const skip = binary ? false : "LYCEUM_TEST_BIN names no program";
const fractions = { activityId: "fractions-1", activityName: "Fractions", subject: "Math", grade: 3 };
let server;

before(async (t) => {
  if (skip) return;
  server = await Server.start(t);
  await server.school("ann", "bob", "cleo");
  await server.call("POST", "/api/games", { slug: "rivers", displayName: "Rivers" });
  const course = { subject: "Math", grade: 3, totalXp: 1000, masterableUnits: 10 };
  const { courses } = await server.call("POST", "/api/lms/setup", { gameId: "rivers", courses: [course] });
  for (const user of ["ann", "bob"]) {
    await server.call("POST", `/bridge/enrollments/enroll/${user}/${courses[0].courseId}`, {});
  }
});

async function player(t, user, options = {}) {
  const client = new Client({ baseUrl: server.base, token: await server.player(user, "rivers"), ...options });
  t.after(() => client.close());
  return client;
}

/** The facts of today, as the analytics tell them. */
async function facts(user) {
  const today = new Date().toISOString().slice(0, 10);
  const query = new URLSearchParams({ studentId: user, startDate: today, endDate: today, timezone: "UTC" });
  return (await server.call("GET", `/bridge/analytics/activity?${query}`)).facts[today]?.Math;
}

test("an activity earns XP by its minutes, its accuracy and its attempt", { skip }, async (t) => {
  const ann = await player(t, "ann");
  const end = (result) => ann.learning.endActivity({ ...fractions, durationSeconds: 480, ...result });
  const first = await end({ correctQuestions: 10, totalQuestions: 10, masteredUnits: 2 });
  assert.deepEqual([first.xpAwarded, first.attempt, first.multiplier, first.pctCompleteApp], [10, 1, 1.25, 20]);
  const second = await end({ correctQuestions: 8, totalQuestions: 10 });
  assert.deepEqual([second.xpAwarded, second.attempt], [4, 2]);
  const own = await end({ correctQuestions: 1, totalQuestions: 10, xpEarned: 2.5 });
  assert.equal(own.xpAwarded, 2.5);
  const timezone = { timezone: "UTC" };
  assert.deepEqual(await ann.learning.xp.summary(timezone), { today: 16.5, total: 16.5 });
  const today = await ann.learning.xp.today(timezone);
  assert.deepEqual((await ann.learning.xp.history(timezone)).at(-1), today);
  assert.equal((await facts("ann")).activityMetrics.xpEarned, 16.5);
  const { role, enrollments, organizations } = await ann.learning.context();
  assert.deepEqual([role, enrollments[0].subject, organizations.length], ["student", "Math", 1]);
});

test("who is not enrolled, or what is not taught, is refused", { skip }, async (t) => {
  const [cleo, ann] = [await player(t, "cleo"), await player(t, "ann")];
  const result = { ...fractions, correctQuestions: 1, totalQuestions: 1 };
  await assert.rejects(cleo.learning.endActivity(result), { status: 403, code: "FORBIDDEN" });
  await assert.rejects(ann.learning.endActivity({ ...result, subject: "Latin" }), { status: 422 });
  assert.deepEqual(ann.queue.pending(), []);
});

test("an activity that ends while the server is down counts once when it is back", { skip }, async (t) => {
  const storage = fileStorage(folder());
  const bob = await player(t, "bob", { storage });
  await server.kill();
  const result = { ...fractions, correctQuestions: 3, totalQuestions: 3, xpEarned: 7 };
  assert.equal((await bob.learning.endActivity(result)).queued, true);
  bob.close();
  await server.run();
  const again = await player(t, "bob", { storage });
  await again.queue.flush();
  await again.queue.flush();
  assert.deepEqual([again.queue.pending(), again.queue.refused()], [[], []]);
  assert.equal(await again.learning.xp.total(), 7);
  assert.equal((await facts("bob")).activityMetrics.totalQuestions, 3);
});

test("the time of a page that is left reaches the server", { skip }, async (t) => {
  const browser = await launch(t);
  const token = await server.player("bob", "rivers");
  const page = `<!doctype html><title>game</title><script type="module">
    import { Client } from "/sdk/index.js";
    window.client = new Client({ baseUrl: "${server.base}", token: "${token}" });
    window.client.learning.start(${JSON.stringify(fractions)});
  </script>`;
  const origin = await serve(t, { "/": page });
  const tab = await browser.newPage();
  await tab.goto(origin);
  await tab.waitForFunction(() => window.client?.learning.current);
  const begun = Date.now();
  await until("half a second", () => Date.now() - begun > 500);
  await tab.goto("about:blank");
  // On a busy machine, the page may have told a part of the time before it was left.
  const spent = await until("the beacon's arrival", async () => {
    const seconds = (await facts("bob"))?.timeSpentMetrics.activeSeconds;
    return seconds >= 0.5 && seconds;
  });
  assert.ok(spent <= (Date.now() - begun) / 1000 + 1, `${spent} s`);
  // The next visit has nothing left to tell.
  await tab.goto(`${origin}/?again`);
  await until("the empty queue", () => tab.evaluate(() => window.client?.queue.pending().length === 0));
});
