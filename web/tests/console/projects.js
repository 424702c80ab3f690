// Projects: versions, what differs between two, a rollback by keyboard, secrets by name, who changed what; the log
// as it grows, the bucket, promoting to another server. Each through projects that are really deployed.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { Server, binary, folder, until } from "../server.js";
import { numberOf, signIn, tabTo } from "./kit.js";

const SLUG = "console-rivers";
const HERE = `/console/projects/${SLUG}`;
const PACKAGES = fileURLToPath(new URL("../../../tests/deploy/node_modules", import.meta.url));
const ROUTE = `export const GET = async (c) => {
  console.log("asked for " + c.req.query("river"));
  if (c.req.query("river") === "styx") console.error("nobody <b>returns</b>");
  await c.env.BUCKET.put("rivers/" + c.req.query("river"), "water");
  return c.json({ river: c.req.query("river") });
};
`;

/** A project with a frontend and a backend that prints and fills a bucket. */
function project() {
  const app = folder();
  for (const path of ["dist", "server/api"]) mkdirSync(join(app, path), { recursive: true });
  symlinkSync(PACKAGES, join(app, "node_modules"));
  writeFileSync(join(app, "lyceum.config.json"), JSON.stringify({ name: "Console rivers", buildPath: "dist", integrations: { bucket: true } }));
  writeFileSync(join(app, "server/api/flow.js"), ROUTE);
  return app;
}

/** Deploys it with an index page of that text. */
function deploy(app, server, env, text) {
  const key = server.lyceum("admin", "key", "create", `deploys ${text}`, "--role", "developer", "--env", env).trim();
  writeFileSync(join(app, "dist/index.html"), `<h1>${text}</h1>`);
  if (text === "two") writeFileSync(join(app, "dist/more.html"), "more");
  const own = { PATH: process.env.PATH, XDG_CONFIG_HOME: app, XDG_STATE_HOME: app, LYCEUM_URL: server.base, LYCEUM_API_KEY: key };
  execFileSync(binary, ["deploy", "--env", env, "--yes", "--quiet"], { cwd: app, env: own });
  return key;
}

export default async function projects(t, kit) {
  await kit.look("projects-none", "/console/projects", "developer");
  const app = project();
  deploy(app, kit.server, "production", "one");
  deploy(app, kit.server, "production", "two");

  const list = await kit.look("projects", "/console/projects");
  assert.match(await list.textContent("tbody"), /console-rivers.*2/s);
  await list.click(`text=${SLUG}`);
  const page = await kit.look("project", HERE);
  assert.match(await page.textContent("tbody tr:first-child"), /2.*served/s);
  const { revision, version: served } = await kit.api(`/api/projects/${SLUG}`);
  assert.deepEqual((await kit.exported("/console/projects")).map(({ slug, version }) => [slug, version]), [[SLUG, served]]);
  assert.match(await page.textContent(`.facts a[href='${HERE}/diff?to=${served}']`), new RegExp(`version ${served}$`));
  assert.equal(numberOf(await page.textContent(`.facts a[href='${HERE}/changes']`)), revision);
  assert.deepEqual((await kit.exported(HERE)).map(({ version }) => version), (await kit.api(`/api/projects/${SLUG}/deployments`)).map(({ version }) => version));
  await page.click("text=Compare two versions");
  assert.match(await page.textContent(".changes"), /changed\s*frontend\/index.html.*added\s*frontend\/more.html/s);
  await kit.look("project-diff", `${HERE}/diff?from=1&to=2`);

  await kit.open(HERE);
  // A rollback asks first: cancelled, nothing changes; agreed to, the other version is served.
  const asks = async () => {
    await tabTo(page, "tbody button");
    await page.keyboard.press("Enter");
    await page.waitForSelector("h1:text('Serve version 1')");
  };
  await asks();
  await page.click("text=Cancel");
  assert.equal((await kit.api(`/api/projects/${SLUG}`)).version, served);
  await asks();
  await page.keyboard.press("Enter");
  await page.waitForSelector("tbody tr:last-child .pill.good");
  const { version } = await kit.api(`/api/projects/${SLUG}`);
  assert.equal(version, 1);
  const changes = await kit.look("project-changes", `${HERE}/changes`);
  assert.match(await changes.textContent("tbody tr:first-child"), /rollback/);
  assert.equal((await kit.exported(`${HERE}/changes`)).length, (await kit.api(`/api/projects/${SLUG}/audit`)).length);
  await kit.look("project-secrets", `${HERE}/secrets`);

  await logs(kit);
  await bucket(kit);

  // Whoever does not belong to it sees nothing of it.
  const { page: other } = kit.pages.developer;
  for (const path of ["", "/logs", "/logs/stream", "/bucket", "/bucket/download?key=rivers/nile", "/promote"]) {
    assert.equal((await other.request.get(HERE + path)).status(), 403, path);
  }
  await promote(t, kit, app);
}

/** The log: what is there, what comes, filtered alike; paused and gone on with by keyboard. */
async function logs(kit) {
  const ask = async (river) => assert.equal((await fetch(`${kit.server.base}/_projects/${SLUG}/api/flow?river=${river}`)).status, 200);
  const page = await kit.open(`${HERE}/logs`);
  assert.match(await page.textContent(".empty"), /The log is empty/);
  await page.waitForSelector(".pill.good:text('live')");
  // The first line makes the list a table, the next ones are put on top of it.
  await ask("nile");
  const line = (text) => page.locator("tbody tr", { hasText: text });
  await line("asked for nile").waitFor();
  await page.waitForSelector(".pill.good:text('live')");
  await ask("styx");
  await line("nobody <b>returns</b>").waitFor();
  assert.equal(await line("nobody").locator(".pill.bad").textContent(), "error");
  await line("GET /api/flow").last().waitFor();

  // What the page shows is what the API tells, newest first.
  const told = await kit.api(`/api/projects/${SLUG}/logs`);
  const shown = (await kit.exported(`${HERE}/logs`)).map(({ stream, text }) => `${stream} ${text}`);
  assert.deepEqual(shown.reverse(), told.map(({ stream, text }) => `${stream} ${text}`));

  // Filtered, by a word and by where lines come from; what comes is filtered alike.
  await page.selectOption("select[name=stream]", "out");
  await page.waitForURL("**/logs?*stream=out*");
  await page.fill("input[type=search]", "asked");
  await page.keyboard.press("Enter");
  await page.waitForURL("**filter=asked*");
  await page.waitForSelector(".pill.good:text('live')");
  await ask("rhine");
  await line("asked for rhine").waitFor();
  const rows = await page.locator("tbody tr td:last-child").allTextContents();
  assert.deepEqual(rows, ["asked for rhine", "asked for styx", "asked for nile"]);

  // Paused, nothing comes; gone on with, nothing was missed and nothing is there twice.
  await tabTo(page, "[data-pause]");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".pill:text('paused')");
  await ask("seine");
  await until("the line", async () => JSON.stringify(await kit.api(`/api/projects/${SLUG}/logs`)).includes("asked for seine"));
  assert.equal(await page.locator("tbody tr").count(), 3);
  await page.keyboard.press("Enter");
  await line("asked for seine").waitFor();
  assert.deepEqual(await page.locator("tbody tr td:last-child").allTextContents(), ["asked for seine", ...rows]);
  assert.deepEqual(kit.pages.administrator.faults, []);
  await kit.look("project-logs", `${HERE}/logs`);
}

/** The bucket: folders and files as the API lists them, pages, bytes, deleting by keyboard, and who did it. */
async function bucket(kit) {
  const at = (key) => `/api/projects/${SLUG}/bucket/object?key=${encodeURIComponent(key)}`;
  const put = async (key, body) => {
    const headers = { authorization: `Bearer ${kit.server.token}`, "content-type": "application/octet-stream" };
    const answer = await fetch(`${kit.server.base}${at(key)}&contentType=text/plain`, { method: "PUT", headers, body });
    assert.equal(answer.status, 200);
  };
  const evil = "<img src=x onerror=alert(1)>.txt";
  await put(evil, "text");
  for (let number = 0; number < 60; number += 1) await put(`maps/${String(number).padStart(2, "0")} é.txt`, `map ${number}`);
  const page = await kit.look("project-bucket", `${HERE}/bucket`);
  assert.deepEqual((await kit.exported(`${HERE}/bucket`)).map(({ key }) => key), ["maps/", "rivers/", evil]);
  await tabTo(page, "tbody td:first-child a");
  await page.keyboard.press("Enter");
  await page.waitForURL("**prefix=maps*");
  const listed = await kit.exported(page.url());
  const { objects } = await kit.api(`/api/projects/${SLUG}/bucket?prefix=maps/&delimiter=/`);
  assert.deepEqual(listed.map(({ key, size }) => [key, size]), objects.map(({ key, size }) => [key, size]));
  assert.match(await page.textContent(".pages"), /1–50 of 60/);
  await page.click("a[rel=next]");
  assert.equal(await page.locator("tbody tr").count(), 10);
  await page.fill("input[name=prefix]", "maps/5");
  await page.click("text=Show files");
  await page.waitForURL("**prefix=maps%2F5");
  assert.equal(await page.locator("tbody tr").count(), 10);
  await page.goto(`${HERE}/bucket?prefix=nowhere/`);
  assert.match(await page.textContent(".empty"), /There are no files here/);

  await page.goto(`${HERE}/bucket?prefix=maps/07`);
  await page.click("tbody td:first-child a");
  await kit.look("project-object", page.url());
  assert.match(await page.textContent(".facts"), /maps\/07 é\.txt\s*Size\s*5 B\s*Type\s*text\/plain/);
  const waits = page.waitForEvent("download");
  await page.click("text=Download");
  const download = await waits;
  assert.equal(download.suggestedFilename(), "07 é.txt");
  const chunks = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk);
  assert.equal(Buffer.concat(chunks).toString(), "map 7");
  const raw = await page.request.get(`${HERE}/bucket/download?key=${encodeURIComponent(evil)}`);
  assert.equal(raw.headers()["content-type"], "application/octet-stream");
  assert.match(raw.headers()["content-disposition"], /^attachment/);

  await tabTo(page, "button.bad");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/bucket?prefix=maps*");
  await assert.rejects(kit.api(at("maps/07 é.txt")), /404/);
  assert.equal((await kit.exported(page.url())).length, 59);
  const forged = await page.request.post(`${HERE}/bucket/delete`, { form: { key: evil } });
  assert.equal(forged.status(), 403);
  for (const what of ["bucket.delete", "bucket.download"]) {
    const [entry] = await kit.exported(`/console/system/audit?what=${what}`);
    assert.deepEqual([entry.who, entry.subject], ["administrator@example.org", SLUG]);
    const own = (await kit.api(`/api/projects/${SLUG}/audit`)).find((entry) => entry.what === what);
    assert.ok(own.details.key, what);
  }
}

/** A staging server whose settings name the one of all tests as its production. */
async function promote(t, kit, app) {
  const key = kit.server.lyceum("admin", "key", "create", "promotes", "--role", "developer", "--env", "production").trim();
  const staging = await Server.start(t, (server) => {
    server.env = { LYCEUM_SERVER__ENV: "staging", LYCEUM_HOSTING__PROMOTE_TO: kit.server.base, LYCEUM_HOSTING__PROMOTE_KEY: key };
  });
  deploy(app, staging, "staging", "three");
  const { page, faults } = await kit.newPage(t, { baseURL: staging.base });
  await signIn(page, staging, "administrator");
  const look = (name, path) => kit.lookAt(name, path, { page, faults });

  await look("project-on-staging", HERE);
  await tabTo(page, "main a.button.main");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/promote");
  await look("project-promote", `${HERE}/promote`);
  assert.match(await page.textContent("pre"), /Frontend\s+Build:/);

  // What was changed since the plan was shown is not written over.
  deploy(app, kit.server, "production", "meanwhile");
  await page.click("main button.main");
  assert.match(await page.textContent("main"), /was changed on one of the servers/);
  faults.length = 0;

  await page.goto(`${HERE}/promote`);
  await tabTo(page, "main button.main");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/promote?done=yes");
  assert.match(await page.textContent("[role=status]"), /The version is promoted/);
  const served = await (await fetch(`${kit.server.base}/_projects/${SLUG}/`)).text();
  assert.equal(served, "<h1>three</h1>");
  const { version } = await kit.api(`/api/projects/${SLUG}`);
  const audit = await (await page.request.get("/console/system/audit?what=project.promote&export=json")).json();
  assert.deepEqual(audit.map(({ who, subject }) => [who, subject]), [["administrator@example.org", SLUG]]);
  const [entry] = await staging.call("GET", `/api/projects/${SLUG}/audit`);
  assert.deepEqual([entry.what, entry.details], ["promote", { version: 1, to: kit.server.base, as: version }]);
  await page.goto(`${HERE}/promote`);
  assert.match(await page.textContent(".empty"), /already serves this version/);
  assert.deepEqual(faults, []);

  // A server that does not answer is told of; one without the settings has no button.
  assert.equal(await (await kit.open(HERE)).locator("text=Promote to production").count(), 0);
}
