import assert from "node:assert/strict";
import { test } from "node:test";

import { AttentionClock } from "../dist/attention.js";
import { Learning } from "../dist/learning.js";
import { World } from "./world.js";

const fractions = { activityId: "fractions-1", activityName: "Fractions", subject: "Math", grade: 3 };

function learningOf(options, more = {}) {
  const world = new World();
  const sent = [];
  const queue = {
    push: async (_method, path, body) => (sent.push({ path, body }), { xpAwarded: 1, queued: false }),
    beacon: (_method, path, body) => sent.push({ path, body, beacon: true }),
    ...more,
  };
  const times = () =>
    sent
      .filter(({ path }) => path === "/lms/time-spent")
      .map(({ body: { timingData } }) => [timingData.activeSeconds, timingData.inactiveSeconds]);
  return { learning: new Learning({}, queue, () => "game-1", world, options), world, sent, times };
}

test("time is told every 15 seconds and once more at the end", async () => {
  const { learning, world, sent, times } = learningOf();
  learning.start(fractions);
  await world.pass(40_000);
  const ended = await learning.endActivity({ correctQuestions: 9, totalQuestions: 10, masteredUnits: 1 });
  assert.equal(ended.xpAwarded, 1);
  assert.deepEqual(times(), [
    [15, 0],
    [15, 0],
    [10, 0],
  ]);
  const windows = sent.slice(0, 3).map(({ body: { timingData } }) => [timingData.startedAt, timingData.endedAt]);
  assert.deepEqual(windows, [
    ["2026-03-02T09:00:00.000Z", "2026-03-02T09:00:15.000Z"],
    ["2026-03-02T09:00:15.000Z", "2026-03-02T09:00:30.000Z"],
    ["2026-03-02T09:00:30.000Z", "2026-03-02T09:00:40.000Z"],
  ]);
  assert.deepEqual(sent[3], {
    path: "/lms/end-activity",
    body: {
      gameId: "game-1",
      activityData: fractions,
      scoreData: { correctQuestions: 9, totalQuestions: 10 },
      timingData: { durationSeconds: 40, endedAt: "2026-03-02T09:00:40.000Z" },
      masteredUnits: 1,
    },
  });
  await world.pass(60_000);
  assert.equal(sent.length, 4, "nothing runs on");
});

test("who does nothing for the idle time is inactive until the next input", async () => {
  const { learning, world, times } = learningOf({ idleAfterSeconds: 20, heartbeatSeconds: 30 });
  learning.start(fractions);
  await world.pass(30_000);
  await world.pass(10_000);
  world.signals.input();
  await world.pass(20_000);
  assert.deepEqual(times(), [
    [20, 10],
    [20, 10],
  ]);
});

test("a hidden page is inactive, a pause is nothing, sleep is nothing", async () => {
  const { learning, world, sent, times } = learningOf();
  learning.start(fractions);
  await world.pass(5_000);
  world.signals.seen(false);
  assert.deepEqual([times(), sent[0].beacon], [[[5, 0]], true], "told at once, for nobody may wake the page again");
  await world.pass(10_000);
  assert.deepEqual(times().at(-1), [0, 10]);
  world.signals.seen(true);
  await world.pass(3_000);
  learning.pause();
  await world.pass(12_000);
  learning.resume();
  assert.deepEqual(times().at(-1), [3, 0]);
  world.time += 8 * 3_600_000;
  await world.pass(15_000);
  const [active, inactive] = times().at(-1);
  assert.ok(active + inactive <= 15, `${active} and ${inactive} seconds of a night's sleep`);
});

test("a page that is left sends its last time as a beacon", async () => {
  const { learning, world, sent } = learningOf();
  learning.start(fractions);
  await world.pass(4_000);
  world.signals.left();
  assert.deepEqual([sent.length, sent[0].beacon, sent[0].body.timingData.activeSeconds], [1, true, 4]);
});

test("an activity is ended without a start, with its own time", async () => {
  const { learning, sent } = learningOf();
  await learning.endActivity({
    ...fractions,
    correctQuestions: 1,
    totalQuestions: 1,
    durationSeconds: 90,
    xpEarned: 2.5,
  });
  assert.deepEqual([sent[0].body.timingData.durationSeconds, sent[0].body.xpEarned], [90, 2.5]);
});

test("time of another activity is not the ended one's", async () => {
  const { learning, world, sent } = learningOf();
  learning.start(fractions);
  await world.pass(10_000);
  await learning.endActivity({ ...fractions, activityId: "other", correctQuestions: 1, totalQuestions: 1 });
  assert.equal(sent.at(-1).body.timingData.durationSeconds, 0);
});

test("numbers that cannot be are refused before they wait anywhere", async () => {
  const { learning, sent } = learningOf();
  const ends = (result) => learning.endActivity({ ...fractions, ...result });
  await assert.rejects(ends({ correctQuestions: 3, totalQuestions: 2 }), RangeError);
  await assert.rejects(ends({ correctQuestions: 1.5, totalQuestions: 2 }), RangeError);
  await assert.rejects(ends({ correctQuestions: 1, totalQuestions: 2, xpEarned: Number.NaN }), RangeError);
  await assert.rejects(learning.endActivity({ correctQuestions: 1, totalQuestions: 2 }), /'activityId' is missing/);
  assert.deepEqual(sent, []);
});

test("the attention clock loses no millisecond between looks", () => {
  const clock = new AttentionClock(0, 1_000, 100_000);
  let [active, inactive] = [0, 0];
  let random = 7;
  for (let now = 0; now < 50_000;) {
    random = (random * 48_271) % 2_147_483_647;
    now += random % 700;
    if (random % 3 === 0) clock.input(now);
    if (random % 5 === 0) clock.see(now, random % 2 === 0);
    const spent = clock.take(now);
    active += spent.activeMs;
    inactive += spent.inactiveMs;
    assert.equal(active + inactive, now);
  }
  assert.ok(active > 0 && inactive > 0);
});

test("a full queue stops no game", async (t) => {
  const { learning, world } = learningOf(
    {},
    {
      beacon: () => {
        throw new Error("5000 writes wait");
      },
    },
  );
  const warned = t.mock.method(console, "warn", () => {});
  learning.start(fractions);
  await world.pass(4_000);
  learning.leave();
  assert.match(warned.mock.calls[0].arguments[0], /the time of 'fractions-1' was not counted: 5000 writes wait/);
});
