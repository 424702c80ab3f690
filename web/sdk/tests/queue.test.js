import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { ApiError, ConnectionError, QUEUE_MAX_WRITES, QueueFullError, memoryStorage } from "../dist/index.js";
import { fileStorage } from "../dist/node.js";
import { Queue } from "../dist/queue.js";
import { World, settled } from "./world.js";

/** A queue, what reached the other side, and a way to break the line between. */
function queueOf({ storage = memoryStorage(), world = new World(), name = "q" } = {}) {
  const line = { fault: undefined, sent: [], tries: 0, world };
  const send = async (write) => {
    line.tries += 1;
    if (line.hold) await line.hold;
    if (line.fault) throw line.fault;
    line.sent.push(write);
    return { echo: write.body };
  };
  return { queue: new Queue(storage, name, send, world), line, storage };
}

const offline = new ConnectionError("no connection");

test("a write that arrives is answered and forgotten", async () => {
  const { queue, line } = queueOf();
  const written = await queue.push("POST", "/scores", { score: 5 });
  assert.deepEqual(written, { echo: { score: 5 }, queued: false });
  assert.equal(line.sent.length, 1);
  assert.deepEqual(queue.pending(), []);
});

test("writes without a connection wait, and arrive once and in order", async () => {
  const { queue, line } = queueOf();
  line.fault = offline;
  for (const score of [1, 2, 3]) {
    const written = await queue.push("POST", "/scores", { score });
    assert.deepEqual([written.queued, written.reason], [true, offline]);
  }
  assert.deepEqual(
    queue.pending().map(({ body }) => body.score),
    [1, 2, 3],
  );
  line.fault = undefined;
  await queue.flush();
  assert.deepEqual(
    line.sent.map(({ body }) => body.score),
    [1, 2, 3],
  );
  assert.deepEqual(queue.pending(), []);
});

test("what waits is sent by the next program with the key it had, and before newer writes", async () => {
  const storage = memoryStorage();
  const first = queueOf({ storage });
  first.line.fault = offline;
  const { key } = await first.queue.push("POST", "/scores", { score: 1 });
  first.queue.close();
  // The second program's clock is an hour behind.
  const world = new World();
  world.time -= 3_600_000;
  world.ids = 100;
  const second = queueOf({ storage, world });
  const written = await second.queue.push("POST", "/scores", { score: 2 });
  assert.equal(written.queued, false);
  assert.deepEqual(
    second.line.sent.map(({ body }) => body.score),
    [1, 2],
  );
  assert.equal(second.line.sent[0].key, key);
});

test("a file keeps what waits, and queues of other names have their own", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lyceum-queue-"));
  try {
    const first = queueOf({ storage: fileStorage(folder), name: "http://localhost:4321/api|game|ada" });
    first.line.fault = offline;
    await first.queue.push("POST", "/scores", { text: "Grüße / 1" });
    const other = queueOf({ storage: fileStorage(folder), name: "http://localhost:4321/api|game|bob" });
    assert.deepEqual(other.queue.pending(), []);
    const next = queueOf({ storage: fileStorage(folder), name: "http://localhost:4321/api|game|ada" });
    await next.queue.flush();
    assert.deepEqual(
      next.line.sent.map(({ body }) => body),
      [{ text: "Grüße / 1" }],
    );
    assert.deepEqual(fileStorage(folder).keys(""), []);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("it tries again by itself, ever more rarely", async () => {
  const { queue, line } = queueOf();
  line.fault = offline;
  await queue.push("POST", "/scores", {});
  const tried = [];
  for (let second = 1; second <= 200; second++) {
    const before = line.tries;
    await line.world.pass(1000);
    if (line.tries > before) tried.push(second);
  }
  assert.deepEqual(tried, [1, 3, 7, 15, 31, 63, 123, 183]);
  line.fault = undefined;
  await line.world.pass(60_000);
  assert.equal(line.sent.length, 1);
});

test("Retry-After is kept, also by new writes and by flush", async () => {
  const { queue, line } = queueOf();
  line.fault = new ApiError(429, "RATE_LIMITED", "too many requests", undefined, 30_000);
  await queue.push("POST", "/scores", { score: 1 });
  line.fault = undefined;
  assert.equal((await queue.push("POST", "/scores", { score: 2 })).queued, true);
  await queue.flush();
  await line.world.pass(29_000);
  assert.equal(line.sent.length, 0);
  await line.world.pass(1_000);
  assert.deepEqual(
    line.sent.map(({ body }) => body.score),
    [1, 2],
  );
});

test("without Retry-After a flush tries at once", async () => {
  const { queue, line } = queueOf();
  line.fault = new ApiError(503, "UNAVAILABLE", "starting");
  await queue.push("POST", "/scores", {});
  line.fault = undefined;
  await queue.flush();
  assert.equal(line.sent.length, 1);
});

test("a refused write is told to whoever waits and blocks no other", async () => {
  const { queue, line } = queueOf();
  line.fault = new ApiError(422, "VALIDATION_FAILED", "score is missing");
  await assert.rejects(queue.push("POST", "/scores", {}), { name: "ApiError", status: 422, code: "VALIDATION_FAILED" });
  assert.deepEqual([queue.pending(), queue.refused()], [[], []]);
  line.fault = undefined;
  assert.equal((await queue.push("POST", "/scores", {})).queued, false);
});

test("a write that is refused when nobody waits any more is kept to be looked at", async () => {
  const { queue, line, storage } = queueOf();
  line.fault = offline;
  const { key } = await queue.push("POST", "/scores", { score: -1 });
  const told = [];
  queue.on("refused", (write) => told.push(write.key));
  line.fault = new ApiError(422, "VALIDATION_FAILED", "too low");
  await queue.flush();
  assert.deepEqual(told, [key]);
  assert.deepEqual(queue.pending(), []);
  const [refused] = queueOf({ storage }).queue.refused();
  assert.deepEqual([refused.body, refused.refusal.code], [{ score: -1 }, "VALIDATION_FAILED"]);
  queue.discard(key);
  assert.deepEqual(queue.refused(), []);
});

test("an expired token loses nothing", async () => {
  const { queue, line } = queueOf();
  line.fault = new ApiError(401, "UNAUTHORIZED", "the token has expired");
  const written = await queue.push("POST", "/scores", {});
  assert.deepEqual([written.queued, written.reason.code], [true, "UNAUTHORIZED"]);
  line.fault = undefined;
  await queue.flush();
  assert.equal(line.sent.length, 1);
});

test("a switched-off integration is told, not waited for", async () => {
  const { queue, line } = queueOf();
  line.fault = new ApiError(503, "LMS_DISABLED", "the project has no integrations.lms");
  await assert.rejects(queue.push("POST", "/lms/end-activity", {}), { code: "LMS_DISABLED" });
});

test("a full queue says so and keeps what it has", async () => {
  const { queue, line, storage } = queueOf();
  line.fault = offline;
  for (let index = 0; index < QUEUE_MAX_WRITES; index++) {
    storage.set(
      `lyceum:queue:q:${String(index).padStart(16, "0")}-k`,
      JSON.stringify({ key: `k${index}`, body: index }),
    );
  }
  await assert.rejects(queue.push("POST", "/scores", {}), QueueFullError);
  assert.equal(queue.pending().length, QUEUE_MAX_WRITES);
  const small = queueOf({
    storage: {
      ...memoryStorage(),
      set: () => {
        throw new Error("quota");
      },
    },
  });
  await assert.rejects(small.queue.push("POST", "/scores", {}), {
    name: "QueueFullError",
    message: /call queue.flush/,
  });
});

test("two tabs send each write once and each hears of its own", async () => {
  const storage = memoryStorage();
  const world = new World();
  let held = Promise.resolve();
  world.lock = (_name, work) => (held = held.then(work, work));
  const tabs = [];
  world.channel = () => {
    const tab = { onmessage: undefined, close() {} };
    tab.postMessage = (data) =>
      tabs.filter((other) => other !== tab).forEach((other) => other.onmessage?.({ data: structuredClone(data) }));
    tabs.push(tab);
    return tab;
  };
  const [one, two] = [queueOf({ storage, world }), queueOf({ storage, world })];
  let release;
  one.line.hold = new Promise((resolve) => (release = resolve));
  const writes = [one.queue.push("POST", "/a", { n: 1 }), two.queue.push("POST", "/b", { n: 2 })];
  await settled();
  release();
  assert.deepEqual(
    (await Promise.all(writes)).map(({ queued, echo }) => [queued, echo.n]),
    [
      [false, 1],
      [false, 2],
    ],
  );
  assert.deepEqual([...one.line.sent, ...two.line.sent].map(({ body }) => body.n).sort(), [1, 2]);
});

test("a beacon is stored before it leaves, and sent again only while nobody has answered", async () => {
  const { queue, line } = queueOf();
  let answer;
  line.hold = new Promise((resolve) => (answer = resolve));
  queue.beacon("POST", "/lms/time-spent", { s: 1 });
  assert.equal(queue.pending().length, 1);
  answer();
  await settled();
  assert.deepEqual([queue.pending(), line.sent.length], [[], 1]);
});

test("a PUT that was never sent gives way to a later one; one that was sent may have arrived", async () => {
  const { queue, line } = queueOf();
  line.fault = offline;
  const put = (state) => queue.push("PUT", "/state", { state }, queue.untried("/state"));
  for (const state of [1, 2, 3]) assert.equal((await put(state)).queued, true);
  assert.deepEqual(
    queue.pending().map(({ body }) => body.state),
    [1, 3],
  );
  line.fault = undefined;
  await queue.flush();
  assert.deepEqual(
    line.sent.map(({ body }) => body.state),
    [1, 3],
  );
});
