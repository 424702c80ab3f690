// System: jobs, a backup that is made by a button, the log of changes, settings without secrets.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { numberOf } from "./kit.js";

export default async function system(t, kit) {
  const page = await kit.look("system-backups", "/console/system/backups");
  await page.click("text=Back up now");
  const file = await page.textContent("tbody tr:first-child td:last-child");
  assert.ok(existsSync(join(kit.server.data, file.trim())), file);

  const overview = await kit.look("system", "/console/system");
  assert.match(await overview.textContent(".facts"), /production/);
  const changes = numberOf(await overview.textContent(".facts a[href='/console/system/audit']"));
  const log = await kit.look("system-audit", "/console/system/audit");
  assert.equal(numberOf((await log.textContent(".pages span")).split("of")[1]), changes);
  assert.match(await log.textContent("tbody tr:first-child"), /backup.make/);
  await log.click("tbody tr:first-child a");
  await kit.look("system-change", new URL(log.url()).pathname);
  await kit.look("system-jobs", "/console/system/jobs");
  const settings = await kit.look("system-settings", "/console/system/settings");
  const rows = await settings.request.get("/console/system/settings?export=json");
  const all = Object.fromEntries((await rows.json()).map(({ name, value }) => [name, value]));
  assert.equal(all["server.env"], '"production"');
  assert.equal(all["keys.master"], '""');
}
