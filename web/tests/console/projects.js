// Projects: versions, what differs between two, a rollback by keyboard, secrets by name, who changed what.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { binary, folder } from "../server.js";
import { tabTo } from "./kit.js";

export default async function projects(t, kit) {
  await kit.look("projects-none", "/console/projects", "developer");
  const app = folder(t);
  mkdirSync(join(app, "dist"));
  writeFileSync(join(app, "lyceum.config.json"), JSON.stringify({ name: "Console rivers", buildPath: "dist" }));
  const key = kit.server.lyceum("admin", "key", "create", "deploys", "--role", "developer", "--env", "production").trim();
  const env = { PATH: process.env.PATH, XDG_CONFIG_HOME: app, XDG_STATE_HOME: app, LYCEUM_URL: kit.server.base, LYCEUM_API_KEY: key };
  const deploy = (text) => {
    writeFileSync(join(app, "dist/index.html"), `<h1>${text}</h1>`);
    if (text === "two") writeFileSync(join(app, "dist/more.html"), "more");
    execFileSync(binary, ["deploy", "--env", "production", "--yes", "--quiet"], { cwd: app, env });
  };
  deploy("one");
  deploy("two");

  const list = await kit.look("projects", "/console/projects");
  assert.match(await list.textContent("tbody"), /console-rivers.*2/s);
  await list.click("text=console-rivers");
  const page = await kit.look("project", "/console/projects/console-rivers");
  assert.match(await page.textContent("tbody tr:first-child"), /2.*served/s);
  await page.click("text=Compare two versions");
  assert.match(await page.textContent(".changes"), /changed\s*frontend\/index.html.*added\s*frontend\/more.html/s);
  await kit.look("project-diff", "/console/projects/console-rivers/diff?from=1&to=2");

  await kit.open("/console/projects/console-rivers");
  await tabTo(page, "tbody button");
  await page.keyboard.press("Enter");
  await page.waitForSelector("tbody tr:last-child .pill.good");
  const { version } = await kit.api("/api/projects/console-rivers");
  assert.equal(version, 1);
  const changes = await kit.look("project-changes", "/console/projects/console-rivers/changes");
  assert.match(await changes.textContent("tbody tr:first-child"), /rollback/);
  await kit.look("project-secrets", "/console/projects/console-rivers/secrets");
  // Whoever does not belong to it sees nothing of it.
  const { page: other, faults } = kit.pages.developer;
  const answer = await other.goto("/console/projects/console-rivers");
  assert.equal(answer.status(), 403);
  faults.length = 0;
}
