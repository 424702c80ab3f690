// System: jobs, a backup that is made by a button, the log of changes, settings without secrets.
import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { isAbsolute, join } from "node:path";

import { numberOf, tabTo } from "./kit.js";

export default async function system(t, kit) {
  const page = await kit.look("system-backups", "/console/system/backups");
  await page.click("text=Back up now");
  const file = (await page.textContent("tbody tr:first-child td:nth-last-child(2)")).trim();
  assert.ok(existsSync(isAbsolute(file) ? file : join(kit.server.data, file)), file);
  assert.equal((await kit.exported("/console/system/backups")).length, readdirSync(join(kit.server.data, "backups")).length);

  const overview = await kit.look("system", "/console/system");
  assert.match(await overview.textContent(".facts"), /production/);
  const changes = numberOf(await overview.textContent(".facts a[href='/console/system/audit']"));
  const log = await kit.look("system-audit", "/console/system/audit");
  assert.equal(numberOf((await log.textContent(".pages span")).split("of")[1]), changes);
  assert.match(await log.textContent("tbody tr:first-child"), /backup.make/);

  // The log by who, what and day, in the order of each column.
  const all = await kit.exported("/console/system/audit");
  assert.equal(all.length, changes);
  await log.selectOption("select[name=what]", "backup.make");
  await log.waitForURL("**what=backup.make*");
  const made = all.filter(({ what }) => what === "backup.make").length;
  assert.equal(await log.locator("tbody tr").count(), made);
  const who = encodeURIComponent("administrator@example.org");
  assert.equal((await kit.exported(`/console/system/audit?who=${who}`)).length, all.filter((entry) => entry.who === "administrator@example.org").length);
  assert.equal((await kit.exported("/console/system/audit?to=2020-01-01")).length, 0);
  for (const key of ["who", "what", "subject"]) {
    const sorted = (await kit.exported(`/console/system/audit?sort=${key}`)).map((entry) => entry[key].toLowerCase());
    assert.deepEqual(sorted, [...sorted].sort(), key);
  }
  const numbers = (await kit.exported("/console/system/audit?sort=number")).map(({ number }) => number);
  assert.deepEqual(numbers, [...numbers].sort((one, two) => one - two));
  await log.goto("/console/system/audit");
  await log.click("tbody tr:first-child a");
  await kit.look("system-change", new URL(log.url()).pathname);
  const jobs = await kit.look("system-jobs", "/console/system/jobs");
  for (const state of ["waiting", "failed"]) {
    const link = `.facts a[href='/console/system/jobs?state=${state}']`;
    const counted = await kit.open("/console/system").then((page) => page.textContent(link));
    assert.equal((await kit.exported(`/console/system/jobs?state=${state}`)).length, numberOf(counted), state);
  }
  // The tries of a job are as many as its number says.
  const [job] = await kit.exported("/console/system/jobs");
  await jobs.goto("/console/system/jobs");
  await tabTo(jobs, "tbody tr:first-child td a");
  await jobs.keyboard.press("Enter");
  await jobs.waitForURL("**/system/jobs/*");
  const tries = await kit.exported(new URL(jobs.url()).pathname);
  assert.equal(tries.length, job.attempts);
  assert.equal(tries.at(-1).outcome, "done");
  await kit.look("system-job", new URL(jobs.url()).pathname);
  await jobs.goto("/console/system/jobs");
  const settings = await kit.look("system-settings", "/console/system/settings");
  const rows = await settings.request.get("/console/system/settings?export=json");
  const values = Object.fromEntries((await rows.json()).map(({ name, value }) => [name, value]));
  assert.equal(values["server.env"], '"production"');
  assert.equal(values["keys.master"], '""');
}
