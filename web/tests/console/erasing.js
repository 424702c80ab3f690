// The data about a person: the export, and an erasure that demands typing the id.
import assert from "node:assert/strict";
import { statSync } from "node:fs";

const ROSTERING = "/ims/oneroster/rostering/v1p2";

export default async function erasing(t, kit) {
  const { users } = await kit.api(`${ROSTERING}/students?limit=1&sort=sourcedId&orderBy=desc`);
  const id = users[0].sourcedId;
  const path = `/console/people/${id}`;
  await kit.look("person", path);
  const { page } = kit.pages.administrator;
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("a:text-is('Export')")]);
  assert.equal(download.suggestedFilename(), "person.zip");
  assert.ok(statSync(await download.path()).size > 1000);

  await page.fill("[name=confirmed]", "another");
  await page.click("button:text-is('Erase this person')");
  assert.match(await page.textContent("[role=alert]"), /nothing was erased/);
  assert.equal((await kit.api(`${ROSTERING}/users/${id}`)).user.sourcedId, id);
  await page.fill("[name=confirmed]", id);
  await page.click("button:text-is('Erase this person')");
  await page.waitForURL("**/erasure");
  const phase = page.locator(".facts dd").nth(4);
  const since = Date.now();
  while ((await phase.textContent()).trim() !== "done") {
    assert.ok(Date.now() - since < 60_000, "the erasure takes too long");
    await page.reload();
  }
  await kit.look("erasure", `${path}/erasure`);
  assert.match(await page.textContent(".facts"), /erased-[0-9a-f]{32}/);
  await assert.rejects(kit.api(`${ROSTERING}/users/${id}`), /404/);
  // The person's page leads to the erasure from now on.
  await page.goto(path);
  assert.match(page.url(), /\/erasure$/);
}
