// School hours: a form sets them for an organization and those below it; the API reads them back.
import assert from "node:assert/strict";

import { tabTo } from "./kit.js";

const ROSTERING = "/ims/oneroster/rostering/v1p2";

export default async function hours(t, kit) {
  const page = await kit.look("school-hours", "/console/system/hours");
  const { orgs } = await kit.api(`${ROSTERING}/schools?limit=1`);
  const [school] = orgs;
  const path = `/bridge/school-hours/${school.sourcedId}`;
  const { data: before } = await kit.api(path);
  assert.notEqual(before.setBy, school.sourcedId);
  await page.fill("input[type=search]", school.name);
  await page.keyboard.press("Enter");
  await page.waitForURL("**filter=*");
  await page.click(`td a:text-is("${school.name}")`);
  await page.waitForURL("**/system/hours/*");
  const form = new URL(page.url()).pathname;
  await kit.look("school-hours-form", form);

  await page.goto(form);
  await page.fill("input[name=begins]", "10:00");
  await page.fill("input[name=ends]", "09:00");
  await page.click("button:text-is('Save')");
  assert.match(await page.textContent("[role=alert]"), /after begins/);
  assert.equal(await page.inputValue("input[name=begins]"), "10:00", "what was typed is still there");
  await page.fill("input[name=ends]", "14:30");
  await page.fill("textarea", "2026-12-24\n2026-12-25");
  await tabTo(page, "button.main");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/system/hours");
  const { data: after } = await kit.api(path);
  assert.deepEqual(after, { ...before, begins: "10:00", ends: "14:30", daysOff: ["2026-12-24", "2026-12-25"], setBy: school.sourcedId });
  const listed = (await kit.exported("/console/system/hours")).find(({ organization }) => organization === school.name);
  assert.deepEqual([listed.hours, listed.daysOff, listed.setBy], ["10:00 – 14:30", 2, school.name]);

  await page.goto(form);
  await page.click("button:has-text('organization above')");
  await page.waitForURL(`**${form}`);
  assert.deepEqual((await kit.api(path)).data, before);
  const [change] = await kit.exported("/console/system/audit");
  assert.equal(change.what, "school_hours.remove");
}
