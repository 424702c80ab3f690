// Home: what to do first, what is here, how data flows.
import assert from "node:assert/strict";

import { numberOf } from "./kit.js";

export default async function home(t, kit) {
  const page = await kit.look("home", "/console");
  const figure = (name) => page.locator(".figure", { has: page.locator(`dt:text-is("${name}")`) }).locator("dd");
  const { events } = await kit.counts();
  const first = async (name) => numberOf((await figure(name).textContent()).trim().split("\n")[0].replace(/ (?=[a-z]).*/, ""));
  assert.equal(await first("Events"), events);
  const { users } = await kit.api("/ims/oneroster/rostering/v1p2/students?limit=3000");
  assert.equal(await first("Students"), users.length);

  // The list vanishes when all of it is done; here it is, since a guide and an app are in.
  assert.equal(await page.locator(".steps").count(), 0);
  assert.equal(await page.locator(".bars .bar").count(), 60);

  // An event of somebody whom nobody knows shows up, and leads to who that is.
  const before = await first("Unknown students");
  await kit.stranger();
  await page.goto("/console");
  assert.equal(await first("Unknown students"), before + 1);
  await figure("Unknown students").locator("a").click();
  await page.waitForURL("**/console/unknown");
  assert.match(await page.textContent("table"), /stranger@example\.org/);
  await kit.look("unknown-students", "/console/unknown");
}
