import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";

import { ApiError, Client, ConnectionError, SetupError, init } from "../dist/index.js";

/** Whatever else listens at an address where a Lyceum server was expected. */
async function stranger(t, answer) {
  const server = createServer((request, response) => answer(request, response));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return `http://127.0.0.1:${server.address().port}`;
}

function clientOf(t, options) {
  const client = new Client({ token: "any", gameId: "g", ...options });
  t.after(() => client.close());
  return client;
}

test("a page where JSON was expected is a wrong address, whatever its status", async (t) => {
  for (const status of [200, 404, 502]) {
    const baseUrl = await stranger(t, (_, response) =>
      response.writeHead(status, { "content-type": "text/html" }).end("<!doctype html><p>hello"),
    );
    const client = clientOf(t, { baseUrl });
    await assert.rejects(client.users.me(), (error) => {
      assert.ok(error instanceof ConnectionError && error.retryable);
      assert.match(error.message, /server not running, or wrong address or port/);
      return true;
    });
  }
});

test("nobody at the address is a lost connection, and a write waits for it", async (t) => {
  const baseUrl = await stranger(t, () => {});
  const client = clientOf(t, { baseUrl: baseUrl.replace(/\d+$/, "1") });
  await assert.rejects(client.users.me(), ConnectionError);
  const written = await client.scores.submit(5);
  assert.equal(written.queued, true);
  assert.equal(client.queue.pending()[0].path, "/games/g/scores");
});

test("errors carry status, code, details, and whether they are worth another try", async (t) => {
  let asked = 0;
  const baseUrl = await stranger(t, (request, response) => {
    asked += 1;
    const status = Number(request.url.split("/").pop());
    const error = { code: "CODE", message: "why", details: [{ path: "score", message: "missing" }] };
    response.writeHead(status, { "content-type": "application/json", "retry-after": "2", "x-request-id": "r-1" });
    response.end(JSON.stringify({ error }));
  });
  const client = clientOf(t, { baseUrl });
  for (const [status, retryable] of [
    [404, false],
    [422, false],
    [429, true],
    [500, true],
    [503, true],
  ]) {
    await assert.rejects(client.users.get(String(status)), (error) => {
      assert.ok(error instanceof ApiError);
      assert.deepEqual([error.status, error.code, error.message, error.retryable], [status, "CODE", "why", retryable]);
      assert.deepEqual([error.details[0].path, error.retryAfterMs, error.requestId], ["score", 2000, "r-1"]);
      return true;
    });
  }
  assert.ok(asked >= 5);
});

test("a refused token is refreshed once", async (t) => {
  const baseUrl = await stranger(t, (request, response) => {
    const good = request.headers.authorization === "Bearer new";
    response.writeHead(good ? 200 : 401, { "content-type": "application/json" });
    response.end(good ? '{"id":"u","username":"ada"}' : '{"error":{"code":"UNAUTHORIZED","message":"expired"}}');
  });
  let refreshed = 0;
  const client = clientOf(t, { baseUrl, token: "old", refreshToken: async () => (refreshed++, "new") });
  assert.equal((await client.users.me()).username, "ada");
  assert.equal((await client.users.me()).username, "ada");
  assert.equal(refreshed, 1);
});

test("a client that is told nothing says what to do", async () => {
  await assert.rejects(init(), (error) => error instanceof SetupError && /@lyceum\/vite/.test(error.message));
  assert.throws(() => new Client({ baseUrl: "", token: "" }), SetupError);
});

test("what the Vite plugin injects is used", async (t) => {
  globalThis.__LYCEUM__ = { baseUrl: "http://127.0.0.1:1", token: "mock", gameId: "fractions" };
  t.after(() => delete globalThis.__LYCEUM__);
  for (const [options, game] of [
    [{}, "fractions"],
    [{ gameId: "other" }, "other"],
  ]) {
    const client = await init(options);
    t.after(() => client.close());
    await client.scores.submit(1);
    assert.equal(client.queue.pending()[0].path, `/games/${game}/scores`);
  }
});

test("a game token names its game and its player", async (t) => {
  const payload = Buffer.from(JSON.stringify({ sub: "ada", game: "g-7" })).toString("base64url");
  const client = clientOf(t, { baseUrl: "http://127.0.0.1:1", token: `e30.${payload}.c2ln`, gameId: undefined });
  await client.scores.submit(5);
  assert.equal(client.queue.pending()[0].path, "/games/g-7/scores");
  const none = clientOf(t, { baseUrl: "http://127.0.0.1:1", gameId: undefined });
  assert.throws(() => none.scores.submit(5), /made without a game/);
});

test("a device whose clock is wrong tells the time of the server", async (t) => {
  let date = "Mon, 02 Mar 2026 09:00:00 GMT";
  const bodies = [];
  const baseUrl = await stranger(t, async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    bodies.push(text && JSON.parse(text));
    response.writeHead(200, { "content-type": "application/json", date }).end("{}");
  });
  const client = clientOf(t, { baseUrl });
  const end = async () => {
    await client.users.me();
    await client.learning.endActivity({
      activityId: "a",
      subject: "Math",
      grade: 3,
      correctQuestions: 1,
      totalQuestions: 1,
    });
    return Date.parse(bodies.at(-1).timingData.endedAt);
  };
  assert.ok(Math.abs((await end()) - Date.parse(date)) < 2_000);
  date = new Date().toUTCString();
  assert.ok(Math.abs((await end()) - Date.now()) < 2_000);
});
