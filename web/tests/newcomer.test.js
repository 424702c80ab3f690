// A newcomer's first minutes: the packed tarballs in an empty folder, a small Vite app, an activity,
// and where it can be seen; then the same app against a server.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

import { Vite } from "../vite/tests/vite.js";
import { launch } from "./chromium.js";
import { publish } from "./packages.js";
import { serve } from "./pages.js";
import { Server, binary, folder, freePort } from "./server.js";

/** These tests drive the program; `LYCEUM_TEST_BIN` names it. */
const skip = binary ? false : "LYCEUM_TEST_BIN names no program";
const run = promisify(execFile);

const FILES = {
  "vite.config.js": `import { lyceum } from "@lyceum/vite";
export default { plugins: [lyceum()] };
`,
  "index.html": `<!doctype html>
<title>Fractions</title>
<button>Submit</button>
<output></output>
<p></p>
<script type="module" src="/main.js"></script>
`,
  "main.js": `import { init } from "@lyceum/sdk";

const { learning, scores } = await init();
learning.start({ activityId: "fractions-1", activityName: "Fractions", subject: "Math", grade: 3 });
const hello = await fetch("/api/hello");
document.querySelector("p").textContent = (await hello.json().catch(() => ({}))).says ?? "";
document.querySelector("button").addEventListener("click", async () => {
  const ended = await learning.endActivity({ correctQuestions: 10, totalQuestions: 10, xpEarned: 12 });
  await scores.submit(10);
  const seen = { ended, board: await scores.leaderboard(), today: await learning.xp.today(), total: await learning.xp.total(), history: await learning.xp.history() };
  document.querySelector("output").textContent = JSON.stringify(seen);
});
`,
  "server/api/hello.js": `export const GET = (c) => c.json({ says: "Hello from the backend" });
`,
};

/** An empty folder in which a newcomer has typed two commands and written a few files. */
async function newcomer() {
  const root = folder();
  const packages = { dependencies: { "@lyceum/sdk": "*" }, devDependencies: { "@lyceum/cli": "*", "@lyceum/vite": "*", vite: "*" } };
  writeFileSync(join(root, "package.json"), JSON.stringify({ name: "fractions", type: "module", ...packages }));
  await run("npm", ["install"], { cwd: root, env: await publish() });
  mkdirSync(join(root, "server/api"), { recursive: true });
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(root, name), text);
  return root;
}

/** A folder that holds a route alone is served by a program that was installed elsewhere. */
async function servesWithoutPackages(program) {
  const elsewhere = folder();
  mkdirSync(join(elsewhere, "server/api"), { recursive: true });
  writeFileSync(join(elsewhere, "lyceum.config.json"), JSON.stringify({ name: "Alone" }));
  writeFileSync(join(elsewhere, "server/api/hello.js"), FILES["server/api/hello.js"]);
  const words = ["dev", "--no-sandbox", "--until-stdin-ends", "--json", "--port", String(await freePort())];
  const backend = spawn(program, words, { cwd: elsewhere, env: { PATH: process.env.PATH }, stdio: ["pipe", "pipe", "inherit"] });
  const [told] = await once(backend.stdout, "data");
  const answer = await fetch(`${JSON.parse(told).url}/api/hello`);
  assert.deepEqual(await answer.json(), { says: "Hello from the backend" });
  backend.stdin.end();
  await once(backend, "exit");
}

/** Presses the app's button and answers what it shows. */
async function submit(frame) {
  await frame.locator("button").click();
  const output = frame.locator("output");
  await output.filter({ hasText: "{" }).waitFor();
  return JSON.parse(await output.textContent());
}

/** What the server knows of the learner: the facts of today and the stream of events. */
async function known(base, headers, email) {
  const today = new Date().toISOString().slice(0, 10);
  const query = new URLSearchParams({ email, startDate: today, endDate: today, timezone: "UTC" });
  const facts = await (await fetch(`${base}/bridge/analytics/activity?${query}`, { headers })).json();
  const stream = await fetch(`${base}/events/stream?follow=false`, {
    headers: { ...headers, "last-event-id": "0" },
  });
  const events = [...(await stream.text()).matchAll(/^data: ?(.*)$/gm)].map(([, data]) => JSON.parse(data));
  return {
    facts: facts.facts[today]?.Math?.activityMetrics,
    events: events.filter(({ type }) => type === "ActivityEvent"),
  };
}

test("a newcomer submits an activity and sees it everywhere; the same app works on a server", { skip }, async (t) => {
  const root = await newcomer();
  const doctor = await run(join(root, "node_modules/.bin/lyceum"), ["doctor", "--json", "--listen", "127.0.0.1:0"], {
    cwd: root,
    env: { PATH: process.env.PATH },
  });
  const runtime = JSON.parse(doctor.stdout).find(({ check }) => check === "runtime");
  assert.equal(runtime.state, "ok", "the package brings what runs backends");
  assert.ok(runtime.found.includes(join(root, "node_modules/@cloudflare")), runtime.found);
  await servesWithoutPackages(join(root, "node_modules/.bin/lyceum"));
  const browser = await launch(t);

  const since = Date.now();
  const vite = await Vite.start(t, root, { LYCEUM_BIN: undefined });
  const tab = await browser.newPage({ timezoneId: "UTC" });
  await tab.goto(vite.url);
  const before = (await known(vite.sandbox.replace(/\/api$/, ""), {}, await email(vite.sandbox))).facts?.xpEarned ?? 0;
  await tab.frameLocator("iframe").locator("p", { hasText: "Hello from the backend" }).waitFor();
  const seen = await submit(tab.frameLocator("iframe"));
  t.diagnostic(`from \`vite\` to XP in the sandbox: ${Date.now() - since} ms`);
  assert.equal(seen.ended.queued, false);
  assert.equal(seen.ended.xpAwarded, 12);
  assert.equal(seen.today.xp, before + 12);
  assert.ok(seen.total >= seen.today.xp);
  assert.equal(seen.history.find(({ date }) => date === seen.today.date).xp, seen.today.xp);
  const inSandbox = await known(vite.sandbox.replace(/\/api$/, ""), {}, await email(vite.sandbox));
  assert.equal(inSandbox.facts.xpEarned, before + 12);
  assert.ok(inSandbox.events.some((event) => JSON.stringify(event).includes("fractions-1")));

  // The same app, built, on a page that embeds it as a platform does.
  await run(process.execPath, [join(root, "node_modules/vite/bin/vite.js"), "build"], { cwd: root });
  const server = await Server.start(t);
  await server.school("ann");
  await server.call("POST", "/api/games", { slug: "fractions", displayName: "Fractions" });
  const taught = { gameId: "fractions", courses: [{ subject: "Math", grade: 3, totalXp: 1000 }] };
  const { courses } = await server.call("POST", "/api/lms/setup", taught);
  await server.call("POST", `/bridge/enrollments/enroll/ann/${courses[0].courseId}`, {});
  const told = { baseUrl: server.base, token: await server.player("ann", "fractions"), gameId: "fractions" };
  const outer = `<!doctype html><iframe src="/index.html"></iframe><script>
    const frame = document.querySelector("iframe");
    frame.onload = () => frame.contentWindow.postMessage({ type: "LYCEUM_INIT", payload: ${JSON.stringify(told)} }, location.origin);
  </script>`;
  const origin = await serve(t, { "/": outer }, join(root, "dist"));
  await tab.goto(origin);
  const there = await submit(tab.frameLocator("iframe"));
  assert.deepEqual([there.ended.xpAwarded, there.today.xp, there.total], [12, 12, 12]);
  assert.deepEqual(
    there.board.map(({ username, score }) => [username, score]),
    [["ann", 10]],
  );
  const onServer = await known(server.base, { authorization: `Bearer ${server.token}` }, "ann@example.org");
  assert.equal(onServer.facts.xpEarned, 12);
  assert.equal(onServer.events.length, 1);
});

/** The demo user's address. */
async function email(api) {
  const user = await (await fetch(`${api}/users/me`, { headers: { authorization: "Bearer mock" } })).json();
  return user.email;
}
