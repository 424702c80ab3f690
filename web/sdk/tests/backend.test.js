import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";

import { ApiError, Client, ConnectionError, SetupError, memoryStorage } from "../dist/index.js";
import { backend, init } from "../dist/server.js";

/** A backend that answers with what it was asked. */
async function echo(t) {
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const { method, url, headers } = request;
    if (url === "/api/page") return response.setHeader("content-type", "text/html").end("<html>");
    response.statusCode = url.startsWith("/api/refused") ? 422 : 200;
    response.setHeader("content-type", "application/json");
    const refused = { error: { code: "VALIDATION_FAILED", message: "no", details: [] } };
    const told = { method, url, body, token: headers.authorization, type: headers["content-type"] };
    response.end(JSON.stringify(response.statusCode === 200 ? told : refused));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  return `http://127.0.0.1:${server.address().port}/api`;
}

function client(t, backendUrl) {
  const options = { baseUrl: "http://127.0.0.1:1", token: "game-token", gameId: "rivers", storage: memoryStorage() };
  const made = new Client({ ...options, ...(backendUrl && { backendUrl }) });
  t.after(() => made.close());
  return made.backend;
}

test("routes are called with the player's token", async (t) => {
  const url = await echo(t);
  const routes = client(t, url);
  const got = await routes.get("/hello", { query: { a: "b c", none: undefined } });
  assert.deepEqual([got.method, got.url, got.token], ["GET", "/api/hello?a=b+c", "Bearer game-token"]);
  for (const path of ["hello", "/hello", "/api/hello", "api/hello"]) assert.equal(routes.url(path), `${url}/hello`);
  assert.equal(routes.url("/apiary"), `${url}/apiary`);
  const posted = await routes.post("/scores", { score: 1 });
  assert.deepEqual([posted.method, posted.body, posted.type], ["POST", '{"score":1}', "application/json"]);
  assert.equal((await routes.put("/x", "as it is")).body, "as it is");
  assert.match((await routes.patch("/x", new URLSearchParams({ a: "b" }))).type, /urlencoded/);
  assert.equal((await routes.delete("/x")).method, "DELETE");
  assert.equal((await routes.download("/file")).headers.get("content-type"), "application/json");
});

test("what a route refuses is an error of the API, and no answer is one of the connection", async (t) => {
  const routes = client(t, await echo(t));
  await assert.rejects(routes.get("/refused"), (error) => error instanceof ApiError && error.status === 422);
  await assert.rejects(routes.get("/page"), ConnectionError);
  await assert.rejects(client(t, "http://127.0.0.1:1/api").get("/x"), ConnectionError);
  await assert.rejects(client(t).get("/x"), SetupError);
});

test("a page finds the backend of its own host", (t) => {
  t.after(() => delete globalThis.location);
  const routes = client(t);
  globalThis.location = new URL("https://rivers.example.org/play/3?x=1");
  assert.equal(routes.url("/hello"), "https://rivers.example.org/api/hello");
  globalThis.location = new URL("https://example.org/_projects/rivers/play");
  assert.equal(routes.url("/hello"), "https://example.org/_projects/rivers/api/hello");
});

test("a backend asks the platform by its binding, and shows no token", async () => {
  const asked = [];
  const LYCEUM = {
    async fetch(url, { method, headers, body }) {
      asked.push({ url, method, headers, body: body && JSON.parse(body) });
      return Response.json({ xpAwarded: 3, totalXp: 12, id: "ann" });
    },
  };
  assert.equal(backend({}), undefined);
  const lyceum = backend({ LYCEUM, GAME_ID: "rivers" });
  const activity = { activityId: "a", subject: "Math", grade: 3, correctQuestions: 1, totalQuestions: 2 };
  assert.equal((await lyceum.learning.endActivity("ann", activity)).xpAwarded, 3);
  assert.equal(await lyceum.learning.xpTotal("ann"), 12);
  await lyceum.scores.submit("ann", 5);
  await lyceum.user("ann");
  const [ended, total, score, user] = asked;
  assert.deepEqual(
    asked.map(({ method, url }) => `${method} ${new URL(url).pathname}${new URL(url).search}`),
    [
      "POST /api/lms/end-activity?userId=ann",
      "GET /api/lms/xp/total?userId=ann",
      "POST /api/games/rivers/scores?userId=ann",
      "GET /api/users/ann?userId=ann",
    ],
  );
  assert.ok(asked.every(({ headers }) => headers.authorization === undefined));
  assert.deepEqual([ended.body.gameId, ended.body.studentId], ["rivers", "ann"]);
  assert.deepEqual(ended.body.scoreData, { correctQuestions: 1, totalQuestions: 2 });
  assert.notEqual(ended.headers["idempotency-key"], score.headers["idempotency-key"]);
  assert.ok(total.body === undefined && user.body === undefined);
  // A player's token is shown as it is, and says who the player is.
  const claims = { sub: "ann", game: "rivers" };
  const token = `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.x`;
  const verified = await lyceum.verifyGameToken(token);
  assert.deepEqual([verified.claims, verified.gameId, verified.user.id], [claims, "rivers", "ann"]);
  assert.equal(asked.at(-1).headers.authorization, `Bearer ${token}`);
});

test("a program elsewhere needs an address, a key and a game", () => {
  assert.throws(() => init({ baseUrl: "https://example.org", apiKey: "", gameId: "rivers" }), SetupError);
  assert.ok(init({ baseUrl: "https://example.org", apiKey: "k", gameId: "rivers" }).learning);
});
