import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";

import { binary, until } from "../../tests/server.js";
import { project, withBackend } from "./project.js";
import { Vite, environment } from "./vite.js";

/** These tests drive the program; `LYCEUM_TEST_BIN` names it. */
const skip = binary ? false : "LYCEUM_TEST_BIN names no program";

const PAGE = "<!doctype html><title>game</title><h1>game</h1>";
const config = (options) =>
  `import { lyceum } from "@lyceum/vite"; export default { plugins: [lyceum(${JSON.stringify(options)})] };`;
const game = (options = { sandbox: { memoryOnly: true } }) =>
  project({ "index.html": PAGE, "vite.config.js": config(options) });

/** A page as a browser asks for it: as a document, or as a frame in one. */
async function page({ url }, destination) {
  return (await fetch(url, { headers: { accept: "text/html", "sec-fetch-dest": destination } })).text();
}

/** What the plugin tells pages. */
const injected = async (vite) => JSON.parse((await page(vite, "iframe")).match(/__LYCEUM__ = (\{.*?\})</)[1]);

/** Calls the sandbox of a page; the JSON of the answer. */
async function call({ baseUrl, token }, path, body) {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const response = await fetch(baseUrl + path, {
    headers,
    ...(body && { method: "POST", body: JSON.stringify(body) }),
  });
  return response.json();
}

const answers = (address) =>
  fetch(address).then(
    () => true,
    () => false,
  );

test("a sandbox runs beside Vite with the project as a game, and ends with it", { skip }, async (t) => {
  const { root } = game();
  const vite = await Vite.start(t, root);
  assert.match(
    vite.said,
    /LYCEUM 0\.\d+\.\d+\s+➜  Project: +my-game\s+➜  Sandbox: +http:\/\/localhost:43\d\d\/api\s+➜  Learning: mock\s+➜  Mode: +platform/,
  );
  const told = await injected(vite);
  assert.equal(told.baseUrl, vite.sandbox);
  const known = await call(told, `/games/${told.gameId}`);
  assert.deepEqual([known.slug, known.mock], ["my-game", true]);
  assert.match(await page(vite, "document"), /LYCEUM_INIT[\s\S]*<\/html>/);
  vite.press("q");
  await until("the sandbox's end", async () => !(await answers(told.baseUrl)));
});

test("keys change mode, database and roles", { skip }, async (t) => {
  const { root } = game();
  const vite = await Vite.start(t, root);
  vite.press("m");
  await vite.says(/the game is shown alone/);
  assert.match(await page(vite, "document"), /<h1>game/);
  let told = await injected(vite);
  await call(told, "/scores", { score: 5 });
  assert.equal((await call(told, "/users/me/scores")).length, 1);
  vite.press("d");
  await vite.says(/a new database/);
  told = await injected(vite);
  assert.deepEqual(await call(told, "/users/me/scores"), []);
  vite.press("t");
  await vite.says(/the learner is a parent/);
  told = await injected(vite);
  const { id } = await call(told, "/users/me");
  const { user } = await (await fetch(new URL(`/ims/oneroster/rostering/v1p2/users/${id}`, told.baseUrl))).json();
  assert.equal(user.roles[0].role, "parent");
  vite.press("p");
  await vite.says(/the demo user is now: admin/);
  told = await injected(vite);
  assert.equal((await call(told, "/users/me")).role, "admin");
  vite.press("p");
  await vite.says(/the demo user is now: player/);
  told = await injected(vite);
  const me = await call(told, "/users/me");
  assert.deepEqual([me.role, me.lms.role], ["player", "parent"]);
});

test("a restart of Vite keeps the sandbox and what is in it", { skip }, async (t) => {
  const { root, put } = game();
  const vite = await Vite.start(t, root);
  const told = await injected(vite);
  await call(told, "/scores", { score: 5 });
  put("vite.config.js", `// changed\n${config({ sandbox: { memoryOnly: true } })}`);
  await vite.says(/server restarted/);
  assert.deepEqual(await injected(vite), told);
  assert.equal((await call(told, "/users/me/scores")).length, 1);
  vite.press("m");
  await vite.says(/the game is shown alone/);
  // A project that has another name is another game.
  let written = 0;
  await until("the new game", async () => {
    // Vite does not see what is written before its new watcher looks.
    if (Date.now() - written > 3_000) {
      put("lyceum.config.json", '{"name": "Rivers"}');
      written = Date.now();
    }
    const { gameId } = await injected(vite).catch(() => told);
    return gameId !== told.gameId;
  });
  assert.equal((await call(await injected(vite), "/games/rivers")).displayName, "Rivers");
});

test("a sandbox never outlives Vite, however that ends", { skip }, async () => {
  const { root } = game();
  for (const signal of ["SIGINT", "SIGTERM", "SIGKILL"]) {
    const vite = spawn(process.execPath, ["node_modules/vite/bin/vite.js", "--port", "0"], {
      cwd: root,
      env: environment,
      stdio: ["pipe", "pipe", "inherit"],
    });
    let said = "";
    vite.stdout.on("data", (text) => (said += text));
    const sandbox = (await until("the sandbox", () => said.match(/Sandbox: +(\S+)/)))[1];
    assert.ok(await answers(sandbox));
    vite.kill(signal);
    await until(`the sandbox's end after ${signal}`, async () => !(await answers(sandbox)));
  }
});

test("two projects have a sandbox each", { skip }, async (t) => {
  const [one, two] = [await Vite.start(t, game().root), await Vite.start(t, game().root)];
  assert.notEqual(one.sandbox, two.sandbox);
  const { sandbox } = one;
  const { root } = game({ sandbox: { url: sandbox } });
  const third = await Vite.start(t, root);
  assert.equal(third.sandbox, sandbox);
  await third.kill();
  assert.ok(await answers(sandbox), "what the plugin has not started it does not end");
});

/** A project whose backend knows the user. */
function learning() {
  const { root, put } = withBackend({ "index.html": PAGE, "vite.config.js": config({ sandbox: { memoryOnly: true } }) });
  const courses = [{ subject: "Math", grade: 3, totalXp: 1000 }];
  put("lyceum.config.json", JSON.stringify({ name: "My game", integrations: { lms: { courses } } }));
  const route = (says) => put("server/api/me.js", `export const GET = async (c) => {
    const user = c.get("user");
    return c.json({ says: "${says}", user, xp: user && (await c.get("sdk").learning.xpTotal(user.sub)) });
  };`);
  route("one");
  const handler = "export default { fetch: (request) => Response.json(userOf(request)) };";
  put("server/api/plain.js", `import { userOf } from "@lyceum/sdk/server";\n${handler}`);
  return { root, route };
}

test("a backend is served beside Vite, again with every save; it knows the user and asks the sandbox", { skip }, async (t) => {
  const { root, route } = learning();
  const vite = await Vite.start(t, root);
  await vite.says(/Backend: +http:\/\/127\.0\.0\.1:\d+\/api \(via 87\d\d\)/);
  const me = async (headers = {}) => (await fetch(`${vite.url}api/me`, { headers })).json();
  const token = { authorization: "Bearer mock" };
  assert.deepEqual(await me(), { says: "one", user: null, xp: null });
  const { user, xp } = await me(token);
  assert.equal(user.sub, "demo-user");
  assert.ok(user.name && user.email && user.lms_id === "demo-user", JSON.stringify(user));
  const plain = async (headers) => (await fetch(`${vite.url}api/plain`, { headers })).json();
  assert.deepEqual([await plain({}), await plain(token)], [null, user]);
  assert.equal((await fetch(`${vite.url}api/integrations/lms/xp/total?userId=demo-user`)).status, 401);
  const activityData = { activityId: "a-1", subject: "Math", grade: 3 };
  const ended = await fetch(`${vite.url}api/integrations/timeback/end-activity`, {
    method: "POST",
    headers: { ...token, "content-type": "application/json" },
    body: JSON.stringify({
      activityData,
      scoreData: { correctQuestions: 1, totalQuestions: 1 },
      timingData: { durationSeconds: 60 },
      xpEarned: 7,
    }),
  });
  assert.deepEqual([ended.status, (await ended.json()).xpAwarded], [200, 7]);
  assert.equal((await me(token)).xp, xp + 7);
  const saved = Date.now();
  route("two");
  await until("the new route", async () => (await me()).says === "two");
  t.diagnostic(`from a save to its answer: ${Date.now() - saved} ms`);
});

test("what is missing is named", async () => {
  const { root } = game();
  const starts = async (environment) => {
    const vite = spawn(process.execPath, ["node_modules/vite/bin/vite.js", "--port", "0"], {
      cwd: root,
      env: { PATH: "/usr/bin:/bin", ...environment },
    });
    let said = "";
    for (const stream of [vite.stdout, vite.stderr]) stream.on("data", (text) => (said += text));
    const code = await new Promise((resolve) => vite.on("exit", resolve));
    return [code, said];
  };
  const [code, said] = await starts({});
  assert.equal(code, 1);
  assert.match(said, /npm install --save-dev @lyceum\/cli/);
  assert.match((await starts({ LYCEUM_BIN: "/bin/false" }))[1], /the sandbox did not start: it ended with 1/);
});
