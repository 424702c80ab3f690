// A deployed app as people open it: the server's page signs them in, embeds the app from its own host and
// hands it tokens; the demo needs no account; the app's own address is a demo. Cookies of third parties are
// blocked, as browsers do it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { STEP_MAX_MS, launch, takePicture } from "./chromium.js";
import { signIn, tabTo } from "./console/kit.js";
import { serve } from "./pages.js";
import { Server, binary, folder, until } from "./server.js";

const skip = binary ? false : "LYCEUM_TEST_BIN names no program";
const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const axe = await readFile(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const SLUG = "play-rivers";
const GREEN = "#0b5d3b";

/** An app that uses the SDK as any app does, and shows what it learns. */
const INDEX = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Rivers</title><link rel="icon" href="data:,">
<style>body { font: 1rem system-ui; margin: 2rem; color: ${GREEN}; background: #fff }</style>
<h1>Rivers</h1><p id="state">starting</p><pre id="seen"></pre>
<button id="score">Score</button> <button id="leave">Leave</button> <button id="alert">Alert</button>
<script type="module" src="/app.js"></script></html>`;
const APP = `import { init } from "/sdk/index.js";
window.heard = [];
const show = (text) => (document.querySelector("#state").textContent = text);
try {
  const client = await init();
  window.client = client;
  for (const name of ["LYCEUM_PAUSE", "LYCEUM_RESUME", "LYCEUM_FORCE_EXIT", "LYCEUM_TOKEN_REFRESH", "LYCEUM_CONNECTION_STATE"]) {
    client.runtime.on(name, (told) => heard.push([name, told ?? null]));
  }
  client.runtime.forwardKeys(["Escape"]);
  client.runtime.ready();
  const [me, backend] = [await client.users.me(), await client.backend.get("/who")];
  document.querySelector("#seen").textContent = JSON.stringify({ mode: client.mode, isDemo: client.isDemo, me, backend, cookie: document.cookie });
  document.querySelector("#score").onclick = async () => {
    await client.scores.submit(window.next ?? 10);
    show("scored " + JSON.stringify((await client.scores.leaderboard()).map(({ username, score }) => [username, score])));
  };
  document.querySelector("#leave").onclick = () => client.runtime.exit();
  document.querySelector("#alert").onclick = () => client.runtime.alert("The river is high", "info");
  show("ready");
} catch (error) {
  show(String(error));
}
`;
const WHO = `export const GET = (c) => c.json({ user: c.get("user") });
`;

let server;
let origin;
before(async (t) => {
  if (skip) return;
  server = await Server.start(t, (server) => {
    server.env = { LYCEUM_SERVER__ENV: "staging", LYCEUM_ADMIN__EMAIL: "ada@example.org", LYCEUM_ADMIN__PASSWORD: "correct horse" };
  });
  await server.school("ann");
  deploy();
  origin = `http://${SLUG}-staging.localhost:${server.port}`;
});

function deploy() {
  const app = folder();
  for (const name of ["dist", "server/api"]) mkdirSync(join(app, name), { recursive: true });
  symlinkSync(path("../../tests/deploy/node_modules"), join(app, "node_modules"));
  cpSync(path("../sdk/dist"), join(app, "dist/sdk"), { recursive: true });
  const files = { "dist/index.html": INDEX, "dist/app.js": APP, "server/api/who.js": WHO };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(app, name), text);
  writeFileSync(join(app, "lyceum.config.json"), JSON.stringify({ name: "Play rivers", emoji: "🌊", buildPath: "dist" }));
  const key = server.lyceum("admin", "key", "create", "deploys", "--role", "developer", "--env", "staging").trim();
  const env = { PATH: process.env.PATH, XDG_CONFIG_HOME: app, XDG_STATE_HOME: app, LYCEUM_URL: server.base, LYCEUM_API_KEY: key };
  const told = JSON.parse(execFileSync(binary, ["deploy", "--env", "staging", "--yes", "--json"], { cwd: app, env }));
  assert.equal(told.playUrl, `${server.base}/play/${SLUG}`, "the address stands in the deploy's output");
}

/** A tab, with what goes wrong on it. */
async function tab(t, options = {}) {
  const browser = await launch(t, ["--test-third-party-cookie-phaseout"]);
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(STEP_MAX_MS);
  const faults = [];
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("pageerror", (error) => faults.push(String(error)));
  page.faults = faults;
  return page;
}

/** The app's frame, once it says that it is ready, and what it has seen. */
async function playing(page) {
  const frame = page.frameLocator("iframe");
  await frame.locator("#state", { hasText: "ready" }).waitFor();
  return { frame, seen: JSON.parse(await frame.locator("#seen").textContent()), inner: page.frames().at(-1) };
}

/** Lets axe-core read the page, light and dark, large and small. */
async function look(page, name) {
  for (const [width, height] of [[1280, 800], [390, 844]]) {
    for (const colorScheme of ["light", "dark"]) {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await takePicture(page, `${name}-${width}-${colorScheme}`);
      const session = await page.context().newCDPSession(page);
      const { frameTree } = await session.send("Page.getFrameTree");
      const { executionContextId } = await session.send("Page.createIsolatedWorld", { frameId: frameTree.frame.id });
      const grave = `({ impact }) => impact === "serious" || impact === "critical"`;
      const options = `{ resultTypes: ["violations"], iframes: false }`;
      const expression = `${axe}; axe.run(document, ${options}).then(({ violations }) =>
        violations.filter(${grave}).map(({ id, nodes }) => id + " " + nodes[0].html))`;
      const { result } = await session.send("Runtime.evaluate", { expression, contextId: executionContextId, awaitPromise: true, returnByValue: true });
      assert.deepEqual(result.value, [], `${name} ${width} ${colorScheme}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.equal(wide, 0, `${name} is too wide at ${width}`);
    }
  }
  await page.setViewportSize({ width: 1280, height: 800 });
}

test("a deployed app is opened by its page: signed in, embedded, with a token of its own", { skip }, async (t) => {
  const page = await tab(t);
  await signIn(page, server, "guide");
  const stranger = await tab(t);
  await stranger.goto(`${server.base}/play/${SLUG}`);
  assert.equal(new URL(stranger.url()).pathname, "/sign-in", "the visitor signs in first");
  await stranger.fill("#email", "guide@example.org");
  await stranger.fill("#password", "correct horse");
  await stranger.keyboard.press("Enter");
  await stranger.waitForURL(`**/play/${SLUG}`);
  await stranger.close();

  // The account has the address of a student of the roster: that is who plays.
  await server.call("PUT", "/ims/oneroster/rostering/v1p2/users/ann", { user: { ...(await student()), email: "guide@example.org" } });
  const answer = await page.goto(`${server.base}/play/${SLUG}`);
  const policy = answer.headers()["content-security-policy"];
  assert.match(policy, new RegExp(`frame-src ${origin.replaceAll(".", "\\.")};`));
  assert.ok(!policy.includes("unsafe"), policy);
  const { frame, seen, inner } = await playing(page);
  assert.equal(new URL(inner.url()).origin, origin);
  assert.deepEqual([seen.mode, seen.isDemo, seen.me.id, seen.me.username], ["platform", false, "ann", "ann"]);
  // Neither name nor address is told before an administrator allows it, and no cookie of the server.
  assert.deepEqual([seen.me.name, seen.me.email, seen.cookie], ["ann", "", ""]);
  assert.deepEqual([seen.backend.user.sub, seen.backend.user.name, seen.backend.user.email], ["ann", "ann", ""]);
  await frame.locator("#score").click();
  await frame.locator("#state", { hasText: 'scored [["ann",10]]' }).waitFor();
  await look(page, "play");

  await t.test("pause, exit and alerts are relayed", async () => {
    await tabTo(page, "[data-pause]");
    await page.keyboard.press("Enter");
    await page.locator("h2", { hasText: "Paused" }).waitFor();
    await look(page, "play-paused");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Continue");
    await page.keyboard.press("Enter");
    await page.locator("[data-over]").waitFor({ state: "hidden" });
    assert.deepEqual(await inner.evaluate(() => heard.map(([name]) => name)), ["LYCEUM_PAUSE", "LYCEUM_RESUME"]);
    await frame.locator("#alert").click();
    await page.locator("[data-banner]", { hasText: "The river is high" }).waitFor();
    await frame.locator("h1").click();
    await page.keyboard.press("Escape");
    await page.locator("h2", { hasText: "Paused" }).waitFor();
    await page.locator("[data-again]").click();
  });

  await t.test("a token that is refused is followed by a new one", async () => {
    const before = await inner.evaluate(() => {
      client.setToken("refused");
      return heard.length;
    });
    const me = await inner.evaluate(() => client.users.me());
    assert.equal(me.id, "ann");
    const told = await inner.evaluate((before) => heard.slice(before), before);
    assert.equal(told[0][0], "LYCEUM_TOKEN_REFRESH");
    const claims = JSON.parse(Buffer.from(told[0][1].token.split(".")[1], "base64url"));
    assert.equal(claims.exp - claims.iat, 600, "short-lived");
    // For that game alone.
    await server.call("POST", "/api/games", { slug: "other", displayName: "Other" });
    const refused = await fetch(`${server.base}/api/games/other/scores`, {
      method: "POST",
      headers: { authorization: `Bearer ${told[0][1].token}`, "content-type": "application/json" },
      body: '{"score":1}',
    });
    assert.equal(refused.status, 403);
  });

  await t.test("the state of the connection is relayed", async () => {
    await page.context().setOffline(true);
    await page.locator("[data-banner]", { hasText: "The server cannot be reached" }).waitFor();
    await page.context().setOffline(false);
    await page.locator("[data-banner]").waitFor({ state: "hidden" });
    const told = await inner.evaluate(() => heard.filter(([name]) => name === "LYCEUM_CONNECTION_STATE").map(([, { state }]) => state));
    assert.deepEqual(told, ["offline", "online"]);
  });

  await t.test("only the app's own origin is heard, and it navigates nothing above it", async () => {
    page.faults.length = 0;
    // Another frame of another origin says that the app has ended.
    await page.evaluate(() => postMessage({ type: "LYCEUM_EXIT" }, "*"));
    await inner.evaluate(() => {
      try {
        top.location.href = "http://example.org/";
      } catch {
        // Refused.
      }
    });
    await until("the refusal", () => page.faults.some((text) => /sandbox|navigat/i.test(text)));
    assert.equal(new URL(page.url()).pathname, `/play/${SLUG}`);
    assert.equal(await page.locator("[data-over]").isVisible(), false);
    page.faults.length = 0;
  });

  await t.test("the app ends by its own word, and is played again", async () => {
    await frame.locator("#leave").click();
    await page.locator("h2", { hasText: "You have left the app" }).waitFor();
    await look(page, "play-left");
    await page.keyboard.press("Enter");
    await playing(page);
    await page.locator("[data-exit]").click();
    await page.locator("h2", { hasText: "You have left the app" }).waitFor();
    assert.deepEqual(page.faults, []);
  });

  await t.test("names are told where an administrator allows it", async () => {
    await server.call("PUT", `/api/games/${SLUG}/identity`, { shares: true });
    await page.goto(`${server.base}/play/${SLUG}`);
    const { seen } = await playing(page);
    assert.deepEqual([seen.me.name, seen.me.email], ["ann S", "guide@example.org"]);
    assert.equal(seen.backend.user.email, "guide@example.org");
    await server.call("PUT", `/api/games/${SLUG}/identity`, { shares: false });
  });

  await t.test("who is signed out meanwhile is told so", async () => {
    await page.goto(`${server.base}/play/${SLUG}`);
    const { inner } = await playing(page);
    await page.context().clearCookies();
    await inner.evaluate(() => {
      client.setToken("refused");
      void client.users.me().catch(() => {});
    });
    await page.locator("h2", { hasText: "You are signed out" }).waitFor();
    await look(page, "play-signed-out");
  });
});

async function student() {
  return (await server.call("GET", "/ims/oneroster/rostering/v1p2/users/ann")).user;
}

test("the demo needs no account, and its scores are its own", { skip }, async (t) => {
  const page = await tab(t);
  await page.goto(`${server.base}/play/${SLUG}`);
  await page.locator("text=Try it without an account").click();
  const { frame, seen, inner } = await playing(page);
  assert.deepEqual([seen.mode, seen.isDemo, seen.me.email], ["demo", true, ""]);
  assert.match(seen.me.username, /^Guest [0-9A-F]{5}$/);
  assert.deepEqual([seen.backend.user.sub, seen.backend.user.demo], [seen.me.id, true]);
  await frame.locator("#score").click();
  await frame.locator("#state", { hasText: `scored [["${seen.me.username}",10]]` }).waitFor();
  // Nothing is taught, and an app that does not know is not stopped by that.
  const ended = await inner.evaluate(() => {
    client.learning.start({ activityId: "a", subject: "Math", grade: 3 });
    return client.learning.endActivity({ correctQuestions: 1, totalQuestions: 1 });
  });
  assert.deepEqual([ended.queued, ended.xpAwarded], [false, 0]);
  assert.equal(await inner.evaluate(() => client.inventory.list().catch(({ status }) => status)), 403);
  await look(page, "play-demo");
  // The visitor stays the same while the tab does.
  await page.reload();
  assert.equal((await playing(page)).seen.me.id, seen.me.id);
  assert.deepEqual(page.faults.filter((text) => !/403/.test(text)), []);
});

test("the app's own address is a demo that stands alone", { skip }, async (t) => {
  const page = await tab(t);
  await page.goto(origin);
  await page.locator("#state", { hasText: "ready" }).waitFor();
  const seen = JSON.parse(await page.locator("#seen").textContent());
  assert.deepEqual([seen.mode, seen.isDemo], ["standalone", true]);
  await page.evaluate(() => (window.next = 20));
  await page.locator("#score").click();
  await page.locator("#state", { hasText: `["${seen.me.username}",20]` }).waitFor();
  assert.ok(!(await page.locator("#state").textContent()).includes("ann"), "scores of players are not the demo's");
  assert.deepEqual(page.faults, []);
});

test("no other page embeds the app", { skip }, async (t) => {
  const page = await tab(t);
  const elsewhere = await serve(t, { "/": `<!doctype html><title>elsewhere</title><iframe src="${origin}/"></iframe>` });
  await page.goto(elsewhere);
  await until("the refusal", () => page.faults.some((text) => text.includes("frame-ancestors")));
});
