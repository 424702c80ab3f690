// Home: what to do first, what is here, how data flows.
import assert from "node:assert/strict";

import { ZONE, numberOf, tabTo } from "./kit.js";

// An export ends after this many rows (CONSOLE_EXPORT_MAX_ROWS).
const EXPORT_MAX_ROWS = 100_000;

export default async function home(t, kit) {
  const page = await kit.look("home", "/console");
  const figure = (name) => page.locator(".figure", { has: page.locator(`dt:text-is("${name}")`) }).locator("dd");
  const { events } = await kit.counts();
  const first = async (name) => numberOf((await figure(name).textContent()).trim().split("\n")[0].replace(/ (?=[a-z]).*/, ""));
  assert.equal(await first("Events"), events);
  for (const [name, path] of [["Students", "students"], ["Courses", "courses"], ["Enrollments", "enrollments"]]) {
    const { totalCount } = await kit.api(`/ims/oneroster/rostering/v1p2/${path}?limit=1`);
    assert.equal(await first(name), totalCount, name);
  }
  // What came in: all of it, in this hour.
  const bars = (await page.locator(".bars .bar title").allTextContents()).map((says) => numberOf(/: ([\d,]+) event/.exec(says)[1]));
  assert.equal(bars.reduce((sum, count) => sum + count, 0), events);
  const rate = await figure("Events per minute").locator("a").textContent();
  const lately = bars.slice(-5).reduce((sum, count) => sum + count, 0) / 5;
  assert.ok(Math.abs(numberOf(rate) - lately) < 0.051, `${rate} of ${lately}`);
  // The time that the newest event took, of those that the API tells.
  const { events: newest } = await kit.api(`/caliper/events?limit=1&offset=${events - 1}`);
  const took = Math.max(0, Date.parse(newest[0].created_at) - Date.parse(newest[0].sendTime));
  const said = (await figure("Delivery delay").locator("a").textContent()).trim();
  const [, amount, unit] = /^(\d+(?:\.\d+)?)\s(ms|s)$/.exec(said);
  assert.ok(Math.abs(amount * (unit === "s" ? 1000 : 1) - took) <= (unit === "s" ? 50 : 0), `${said} of ${took} ms`);

  // A bar opens the events of its minute, the rate those of its minutes, the time that of its event.
  const opened = async (link, count) => {
    const href = await link.getAttribute("href");
    const found = await kit.exported(href);
    assert.equal(found.length, Math.min(count, EXPORT_MAX_ROWS), href);
    return found;
  };
  const drawn = await page.locator(".bars a").all();
  assert.equal(drawn.length, bars.filter((count) => count > 0).length);
  for (const link of drawn.slice(-2)) {
    const [, count] = /: ([\d,]+) event/.exec(await link.getAttribute("aria-label"));
    await opened(link, numberOf(count));
  }
  const five = bars.slice(-5).reduce((sum, count) => sum + count, 0);
  if (five > 0) await opened(figure("Events per minute").locator("a"), five);
  const behind = await (await page.request.get(await figure("Delivery delay").locator("a").getAttribute("href"))).text();
  assert.ok(behind.includes(newest[0].externalId) && behind.includes("Delivery delay"), newest[0].externalId);
  const hourAgo = Date.now() - 60 * 60 * 1000;
  const refused = (await kit.exported("/console/events/refused")).filter(({ replayed, received }) => replayed === "waiting" && Date.parse(received) > hourAgo);
  assert.equal(await first("Rejected in the last hour"), refused.length);
  await opened(figure("Rejected in the last hour").locator("a"), refused.length);
  // Whom the roster does not know, by the events and the users that the API tells.
  const emails = new Set();
  for (let offset = 0, rest = 1; rest > 0; offset += 1000) {
    const { users, totalCount } = await kit.api(`/ims/oneroster/rostering/v1p2/users?limit=1000&offset=${offset}&fields=email`);
    for (const { email } of users) emails.add(email);
    rest = totalCount - offset - 1000;
  }
  const actors = new Set((await kit.exported("/console/events")).map(({ who }) => who));
  assert.equal(await first("Unknown students"), [...actors].filter((who) => !emails.has(who)).length);

  // Every number leads to what is behind it.
  for (const link of await page.locator(".figure dd").all()) assert.equal(await link.locator("a").count(), 1, await link.textContent());
  assert.equal((await page.request.get("/console/events/refused")).status(), 200);

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
  const unknown = await kit.exported("/console/unknown");
  assert.equal(unknown.length, before + 1);

  // Whoever administers sees how old the last backup is, and makes one by keyboard; nobody else sees it.
  await page.goto("/console");
  const backups = page.locator(".health");
  assert.equal(await first("Failed jobs"), (await kit.exported("/console/system/jobs?state=failed")).length);
  assert.match(await figure("Database response time").textContent(), /^\d+(\.\d+)?\sm?s (ready|slow)$/);
  if ((await kit.exported("/console/system/backups")).length === 0) assert.match(await backups.textContent(), /none\s*create one/);
  assert.match(await backups.textContent(), /lyceum admin backup FILE/);
  await tabTo(page, ".health button");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/system/backups");
  await page.goto("/console");
  assert.match(await backups.textContent(), /\d+\ss ago\s*recent/);
  await figure("Last backup").locator("a").click();
  await page.waitForURL("**/system/backups");
  for (const role of ["guide", "developer"]) {
    const own = await kit.open("/console", role);
    assert.equal(await own.locator(".health").count(), 0);
    // Nobody is led to where they may not go.
    const links = new Set(await own.locator("main a").evaluateAll((all) => all.map((link) => link.getAttribute("href"))));
    assert.ok(role === "developer" || links.size > 0);
    for (const href of links) assert.equal((await own.request.get(href)).status(), 200, `${href} as ${role}`);
  }

  // A guide who teaches sees the own classes first, a developer the own projects.
  const guide = await kit.look("home-guide", "/console", "guide");
  assert.equal(await guide.locator("main section h2").first().textContent(), "My classes live");
  const { totalCount } = await kit.api(`/ims/oneroster/rostering/v1p2/users/console-teacher/classes?limit=1`);
  assert.equal(await guide.locator("#my-classes tbody tr").count(), totalCount);
  const row = await guide.locator("#my-classes tbody tr", { hasText: "Fractions" }).first().locator("td").allTextContents();
  assert.equal(numberOf(row[1]), 10, "its students");
  let xp = 0;
  const day = new Intl.DateTimeFormat("en-CA", { timeZone: ZONE }).format(new Date());
  for (const { sourcedId } of kit.students.slice(0, 10)) xp += (await kit.sums(sourcedId, day, day)).xp;
  assert.ok(Math.abs(numberOf(row[5]) - xp) < 0.051, `${row[5]} of ${xp}`);
  const developer = await kit.look("home-developer", "/console", "developer");
  assert.match(await developer.textContent("main"), /My projects/);
}
