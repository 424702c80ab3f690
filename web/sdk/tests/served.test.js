import assert from "node:assert/strict";
import { before, test } from "node:test";

import { launch } from "../../tests/chromium.js";
import { serve } from "../../tests/pages.js";
import { Server, binary, folder, until } from "../../tests/server.js";
import { ApiError, Client } from "../dist/index.js";
import { fileStorage } from "../dist/node.js";

/** These tests drive the program; `LYCEUM_TEST_BIN` names it. */
const skip = binary ? false : "LYCEUM_TEST_BIN names no program";
let server;

before(async (t) => {
  if (skip) return;
  server = await Server.start(t);
  await server.school("ann", "bob");
  for (const [slug, displayName] of [
    ["rivers", "Rivers"],
    ["planets", "Planets"],
  ]) {
    await server.call("POST", "/api/games", { slug, displayName });
  }
  await server.call("POST", "/api/items", { slug: "gem", displayName: "Gem", type: "collectible" });
  await server.call("PUT", "/api/games/rivers/achievements/source", {
    title: "To the source",
    goal: 3,
    creditsReward: 5,
  });
});

async function player(t, user, options = {}) {
  const client = new Client({ baseUrl: server.base, token: await server.player(user, "rivers"), ...options });
  t.after(() => client.close());
  return client;
}

test("a player plays: sessions, scores, leader board", { skip }, async (t) => {
  const [ann, bob] = [await player(t, "ann"), await player(t, "bob")];
  assert.equal((await ann.users.me()).username, "ann");
  // Whoever has not played the game is nobody there.
  await assert.rejects(ann.users.get("bob"), { status: 403 });
  assert.deepEqual(
    (await ann.games.list()).map(({ slug }) => slug),
    ["planets", "rivers"],
  );
  assert.equal((await ann.games.fetch()).displayName, "Rivers");
  const { sessionId } = await ann.games.startSession();
  const ended = await ann.games.endSession(sessionId);
  assert.ok(ended.endedAt && ended.durationSeconds >= 0);
  assert.equal((await ann.games.sessions()).length, 1);
  await ann.scores.submit(10, { level: "delta" });
  await ann.scores.submit(7);
  await bob.scores.submit(8.5);
  const seen = await ann.users.get("bob");
  assert.deepEqual([seen.username, seen.email], ["bob", undefined]);
  assert.deepEqual(
    (await ann.scores.mine()).map(({ score }) => score),
    [7, 10],
  );
  const board = await bob.scores.leaderboard({ timeframe: "weekly", limit: 5 });
  assert.deepEqual(
    board.map(({ rank, username, score }) => [rank, username, score]),
    [
      [1, "ann", 10],
      [2, "bob", 8.5],
    ],
  );
});

test("what a player has, reaches and is told", { skip }, async (t) => {
  const ann = await player(t, "ann");
  assert.equal(await ann.credits.balance(), 0);
  await ann.credits.add(20);
  assert.equal((await ann.credits.spend(5)).newTotal, 15);
  await assert.rejects(ann.credits.spend(500), { status: 409 });
  assert.equal((await ann.inventory.add("gem", 2)).newTotal, 2);
  assert.equal((await ann.inventory.remove("gem")).newTotal, 1);
  assert.deepEqual(
    (await ann.inventory.list()).map(({ item, quantity }) => [item.slug, quantity]),
    [
      ["LYCEUM_CREDITS", 15],
      ["gem", 1],
    ],
  );
  assert.equal((await ann.achievements.progress("source", 2)).unlockedAt, null);
  assert.ok((await ann.achievements.unlock("source")).unlockedAt);
  assert.equal((await ann.achievements.list())[0].progress, 3);
  assert.equal(await ann.credits.balance(), 20, "the achievement's reward");
  const [news] = await ann.notifications.list({ unread: true });
  assert.equal(news.type, "achievement");
  assert.ok((await ann.notifications.markRead(news.id)).readAt);
  assert.deepEqual(
    [(await ann.notifications.markAllRead()).read, await ann.notifications.list({ unread: true })],
    [0, []],
  );
  assert.equal((await ann.levels.progress()).level, 1);
  assert.deepEqual((await ann.levels.config())[0], { level: 1, xpRequired: 0, creditsReward: 0 });
});

test("a state that somebody else saved is not saved over", { skip }, async (t) => {
  const [phone, laptop] = [await player(t, "bob"), await player(t, "bob")];
  assert.deepEqual(await phone.games.loadState(), { state: null, version: 0, updatedAt: null });
  await laptop.games.loadState();
  await phone.games.saveState({ level: 1 });
  await phone.games.saveState({ level: 2 });
  await assert.rejects(
    laptop.games.saveState({ level: 1 }),
    (error) => error instanceof ApiError && error.status === 409 && error.code === "CONFLICT",
  );
  assert.deepEqual((await laptop.games.loadState()).state, { level: 2 });
  await laptop.games.saveState({ level: 3 });
  await phone.games.saveState({ level: 9 }, { overwrite: true });
  assert.deepEqual((await laptop.games.loadState()).state, { level: 9 });
});

test("errors are those of the server", { skip }, async (t) => {
  const ann = await player(t, "ann");
  await assert.rejects(ann.games.fetch("none"), { status: 404, code: "NOT_FOUND", retryable: false });
  await assert.rejects(ann.scores.submit("many"), (error) => {
    assert.deepEqual([error.status, error.code], [422, "VALIDATION_FAILED"]);
    assert.ok(JSON.stringify(error.details).includes("score") && error.requestId, JSON.stringify(error.details));
    return true;
  });
  const nobody = new Client({ baseUrl: server.base, token: "mock-dev-token", gameId: "rivers" });
  t.after(() => nobody.close());
  await assert.rejects(nobody.users.me(), { status: 401, code: "UNAUTHORIZED" });
});

test("a backend acts for players with its own client", { skip }, async (t) => {
  const backend = new Client({ baseUrl: server.base, token: server.token, gameId: "planets", userId: "bob" });
  t.after(() => backend.close());
  await backend.scores.submit(42);
  assert.deepEqual(
    (await backend.scores.leaderboard()).map(({ userId, score }) => [userId, score]),
    [["bob", 42]],
  );
});

test("a server that crashes and comes back has every write once, in order", { skip }, async (t) => {
  const storage = fileStorage(folder());
  const ann = await player(t, "ann", { gameId: "rivers", storage });
  const before = (await ann.scores.mine()).length;
  await ann.scores.submit(101);
  await server.kill();
  for (const score of [102, 103, 104]) assert.equal((await ann.scores.submit(score)).queued, true);
  ann.close();
  await server.run();
  // The next visit, with a new token.
  const again = await player(t, "ann", { gameId: "rivers", storage });
  await again.queue.flush();
  assert.deepEqual(again.queue.pending(), []);
  const scores = (await again.scores.mine()).map(({ score }) => score);
  assert.deepEqual(scores.slice(0, scores.length - before), [104, 103, 102, 101]);
});

test("a game that saves without a connection waits with its last state alone", { skip }, async (t) => {
  const phone = await player(t, "ann");
  await phone.games.loadState();
  await phone.games.saveState({ level: 1 });
  await server.kill();
  for (const level of [2, 3, 4, 5]) await phone.games.saveState({ level });
  assert.deepEqual(
    phone.queue.pending().map(({ body }) => [body.state.level, body.version]),
    [
      [2, 1],
      [5, 2],
    ],
  );
  await server.run();
  await phone.queue.flush();
  await phone.games.saveState({ level: 6 });
  const { state, version } = await phone.games.loadState();
  assert.deepEqual([state, version, phone.queue.refused()], [{ level: 6 }, 4, []]);
});

test("an answer that is lost on its way does not count twice", { skip }, async (t) => {
  const storage = fileStorage(folder());
  const ann = await player(t, "ann", { storage });
  const before = await ann.inventory.quantity("gem");
  const real = globalThis.fetch;
  t.after(() => (globalThis.fetch = real));
  globalThis.fetch = async (...call) => {
    await real(...call);
    throw new TypeError("the line breaks behind the request");
  };
  assert.equal((await ann.inventory.add("gem", 5)).queued, true);
  globalThis.fetch = real;
  await ann.queue.flush();
  assert.deepEqual(ann.queue.pending(), []);
  assert.equal(await ann.inventory.quantity("gem"), before + 5);
});

test("two tabs of a browser share the queue and nothing counts twice", { skip }, async (t) => {
  const browser = await launch(t);
  const token = await server.player("bob", "planets");
  const page = `<!doctype html><title>game</title><script type="module">
    import { Client } from "/sdk/index.js";
    window.client = new Client({ baseUrl: "${server.base}", token: "${token}" });
  </script>`;
  const origin = await serve(t, { "/": page });
  const context = await browser.newContext();
  const tabs = await Promise.all([0, 1].map(() => context.newPage()));
  for (const tab of tabs) {
    await tab.goto(origin);
    await tab.waitForFunction(() => window.client);
  }
  assert.equal(await tabs[0].evaluate(() => window.client.connection.check()), "online");
  // Without a network each tab adds to what waits; both send when it is back.
  await context.setOffline(true);
  const submit = (tab, numbers) =>
    tab.evaluate((scores) => Promise.all(scores.map((score) => window.client.scores.submit(score))), numbers);
  const written = await Promise.all([submit(tabs[0], [1, 2, 3, 4, 5]), submit(tabs[1], [11, 12, 13, 14, 15])]);
  assert.ok(written.flat().every(({ queued }) => queued));
  assert.equal(await tabs[1].evaluate(() => window.client.queue.pending().length), 10);
  // A tab may not see at once what the other has taken from their storage: what it sends again then has
  // the key that it had.
  const posts = new Map();
  context.on("request", (request) => {
    if (request.method() === "POST") posts.set(request.headers()["idempotency-key"], request.postDataJSON().score);
  });
  await context.setOffline(false);
  await Promise.all(tabs.map((tab) => tab.evaluate(() => window.client.queue.flush())));
  await until("the empty queue", () => tabs[0].evaluate(() => window.client.queue.pending().length === 0));
  assert.deepEqual(
    [...posts.values()].sort((a, b) => a - b),
    [1, 2, 3, 4, 5, 11, 12, 13, 14, 15],
  );
  const scores = await tabs[0].evaluate(async () => (await window.client.scores.mine()).map(({ score }) => score));
  assert.deepEqual(
    scores.filter((score) => score < 42).sort((a, b) => a - b),
    [1, 2, 3, 4, 5, 11, 12, 13, 14, 15],
  );
});

test("a page that knows nothing of the network notices that the server is gone and back", { skip }, async (t) => {
  const ann = await player(t, "ann");
  const heard = [];
  ann.connection.on("change", (state) => heard.push(state));
  assert.equal(await ann.connection.check(), "online");
  await server.kill();
  assert.equal(await ann.connection.check(), "online", "one lost ping is no lost connection");
  assert.equal(await ann.connection.check(), "offline");
  await ann.scores.submit(1);
  await server.run();
  assert.equal(await ann.connection.check(), "online");
  assert.deepEqual(heard, ["offline", "online"]);
  await until("the write's arrival", () => ann.queue.pending().length === 0);
});
