// Events: what the list counts is what the API counts; the live tail shows an event that arrives; a refused one is
// told with its reason and replayed.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

import { OFFSET, ZONE, numberOf, tabTo } from "./kit.js";

/** Rows of the log that an export has at most. */
const EXPORT_MAX_ROWS = 100_000;
/** Events that are sorted by what no index has. */
const SORTED_MAX_EVENTS = 10_000;
const CONTEXT = "http://purl.imsglobal.org/ctx/caliper/v1p2";

const event = (id, more) => ({
  "@context": CONTEXT,
  id: `urn:uuid:00000000-0000-4000-8000-${String(900_000 + id).padStart(12, "0")}`,
  type: "SessionEvent",
  action: "LoggedIn",
  actor: { id: "https://school.test/users/robin", type: "Person", name: "Robin" },
  object: { id: "https://app.test/", type: "SoftwareApplication", name: "Fractions" },
  edApp: { id: "https://app.test/", type: "SoftwareApplication", name: "Fractions" },
  eventTime: new Date().toISOString(),
  ...more,
});

async function send(kit, ...data) {
  const body = { sensor: "https://app.test/sensor", sendTime: new Date().toISOString(), dataVersion: CONTEXT, data };
  const headers = { authorization: `Bearer ${kit.server.token}`, "content-type": "application/json" };
  return fetch(`${kit.server.base}/ims/caliper/v1p2/events`, { method: "POST", headers, body: JSON.stringify(body) });
}

/** The most memory that the server ever held, as Linux counts it. */
function peakKib(server) {
  const status = readFileSync(`/proc/${server.process.pid}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+)/m.exec(status)[1]);
}

/** The log by app and by day, in the order of each: as the API has it. */
async function chosen(t, kit, page) {
  const counted = async (filter) => (await kit.api(`/caliper/events?limit=1&${new URLSearchParams(filter)}`)).pagination.total;
  const rows = (count) => Math.min(count, EXPORT_MAX_ROWS);
  const apps = await page.locator("select[name=app] option").evaluateAll((options) => options.slice(1).map(({ value, textContent }) => [value, textContent]));
  assert.deepEqual(apps.map(([, name]) => name), ["Abacus", "Fractions"]);
  for (const [sensor, name] of apps) {
    const found = await kit.exported(`/console/events?app=${encodeURIComponent(sensor)}`);
    assert.equal(found.length, rows(await counted({ sensor })), name);
    assert.deepEqual([...new Set(found.map(({ app }) => app))], [name]);
  }
  await page.selectOption("select[name=app]", apps[1][0]);
  await page.waitForURL("**app=https*");
  assert.match(await page.textContent(".pages"), /1–2 of 2/);

  // Two days, chosen by keyboard.
  const day = (back) => new Intl.DateTimeFormat("en-CA", { timeZone: ZONE }).format(new Date(Date.now() - back * 24 * 60 * 60 * 1000));
  await page.goto("/console/events");
  await page.fill("input[name=from]", day(3));
  await page.fill("input[name=to]", day(2));
  await page.keyboard.press("Enter");
  await page.waitForURL("**from=*");
  const within = await counted({ startDate: `${day(3)}T00:00:00.000${OFFSET}`, endDate: `${day(2)}T23:59:59.999${OFFSET}` });
  assert.ok(within > 0);
  assert.equal(numberOf((await page.textContent(".pages span")).split("of")[1]), within);
  assert.equal((await kit.exported(page.url())).length, rows(within));

  // Of one person; so few are sorted by every column.
  const [{ who }] = await kit.exported("/console/events?sort=number");
  const own = await kit.exported(`/console/events?filter=${who}`);
  assert.equal(own.length, await counted({ actorEmail: who }));
  for (const key of ["type", "action", "who"]) {
    const sorted = (await kit.exported(`/console/events?filter=${who}&sort=-${key}`)).map((row) => row[key]);
    assert.deepEqual(sorted, own.map((row) => row[key]).sort().reverse(), key);
  }
  await page.goto(`/console/events?filter=${who}`);
  await page.click("th a >> text=Type");
  await page.waitForURL("**sort=type*");
  assert.equal(await page.getAttribute("th:nth-child(2)", "aria-sort"), "ascending");

  // By time and by number, both ways; a page goes on where the one before ended.
  const total = await counted({});
  for (const key of ["time", "number"]) {
    const of = (row) => (key === "time" ? Date.parse(row.time) : row.number);
    const all = await kit.exported(`/console/events?sort=${key}`);
    assert.equal(all.length, rows(total));
    assert.ok(all.every((row, at) => at === 0 || (of(row) - of(all[at - 1]) || row.number - all[at - 1].number) > 0), key);
    const shown = async (sort) => {
      const numbers = [];
      for (const at of [1, 2]) {
        await page.goto(`/console/events?sort=${sort}&page=${at}`);
        numbers.push(...(await page.locator("tbody td:last-child").allTextContents()).map(numberOf));
      }
      return numbers;
    };
    const numbers = all.map(({ number }) => number);
    assert.deepEqual(await shown(key), numbers.slice(0, 100), key);
    // An export of everything has the other end, too.
    const last = await shown(`-${key}`);
    assert.deepEqual(last, total === all.length ? numbers.toReversed().slice(0, 100) : last, `-${key}`);
  }
  for (const [sort, first] of [["app", "Abacus"], ["-app", "Fractions"]]) {
    await page.goto(`/console/events?sort=${sort}`);
    assert.equal(await page.textContent("tbody tr:first-child td:nth-child(5)"), first, sort);
  }
  assert.equal((await page.request.get("/console/events?from=yesterday")).status(), 422);

  // Of more than that, it says what is sorted, and of a file that holds a part, its name says so.
  const isMany = total > SORTED_MAX_EVENTS;
  await page.goto("/console/events?sort=type");
  assert.equal(await page.locator(".note", { hasText: "type, action and person sort" }).count(), isMany ? 1 : 0);
  assert.equal((await page.request.get("/console/events?sort=type&export=csv")).status(), isMany ? 422 : 200);
  const [began, before] = [Date.now(), peakKib(kit.server)];
  const file = await page.request.get("/console/events?export=csv");
  t.diagnostic(`an export of ${rows(total)} rows takes ${Date.now() - began} ms; the server's peak went from ${before} to ${peakKib(kit.server)} KiB`);
  const name = total > EXPORT_MAX_ROWS ? "events-first-100000.csv" : "events.csv";
  assert.equal(file.headers()["content-disposition"], `attachment; filename="${name}"`);
  assert.equal((await file.text()).trim().split("\n").length, rows(total) + 1);
}

export default async function events(t, kit) {
  assert.equal((await send(kit, event(1), event(2))).status, 200);
  const refused = await send(kit, event(3, { type: "NoSuchEvent" }));
  assert.equal(refused.status, 400);

  const page = await kit.look("events", "/console/events");
  const { pagination } = await kit.api("/caliper/events?limit=1");
  assert.equal(numberOf((await page.textContent(".pages span")).split("of")[1]), pagination.total);
  assert.match(await page.textContent("tbody tr:first-child"), /SessionEvent.*LoggedIn.*Fractions/s);
  const file = await (await page.request.get("/console/events?filter=https://school.test/users/robin&export=json")).json();
  assert.deepEqual(file.map(({ type, app }) => [type, app]), [["SessionEvent", "Fractions"], ["SessionEvent", "Fractions"]]);
  await chosen(t, kit, page);

  // The number opens the event.
  await kit.open("/console/events");
  await page.click("tbody tr:first-child td:last-child a");
  assert.match(await page.textContent("pre"), /"urn:uuid:00000000-0000-4000-8000-000000900002"/);
  await kit.look("event", new URL(page.url()).pathname + new URL(page.url()).search);

  // Live, as a guide, by keyboard.
  const live = await kit.open("/console/events", "guide");
  await tabTo(live, "a[href='/console/events/live']");
  await live.keyboard.press("Enter");
  await live.waitForSelector(".pill.good:text('live')");
  const began = Date.now();
  assert.equal((await send(kit, event(4, { object: { id: "https://app.test/<img>", type: "SoftwareApplication", name: "<img src=x>" } }))).status, 200);
  await live.waitForSelector("tbody tr");
  t.diagnostic(`an event is seen after ${Date.now() - began} ms`);
  assert.match(await live.textContent("tbody tr"), /SessionEvent/);
  assert.deepEqual(kit.pages.guide.faults, []);
  await tabTo(live, "[data-pause]");
  await live.keyboard.press("Enter");
  await live.waitForSelector(".pill:text('paused')");
  assert.equal((await send(kit, event(5))).status, 200);
  await kit.look("events-live", "/console/events/live", "guide");

  const waiting = await kit.look("events-rejected", "/console/events/refused");
  assert.match(await waiting.textContent("tbody tr:first-child"), /waiting/);
  const rejected = await kit.exported("/console/events/refused");
  assert.equal(numberOf(await waiting.textContent(".tabs .pill")), rejected.filter(({ replayed }) => replayed === "waiting").length);
  assert.equal((await kit.exported("/console/events/refused?to=2020-01-01")).length, 0);
  const { client } = rejected[0];
  assert.equal((await kit.exported(`/console/events/refused?client=${client}`)).length, rejected.length);
  await tabTo(waiting, "tbody tr:first-child a");
  await waiting.keyboard.press("Enter");
  await waiting.waitForURL("**/events/refused/*");
  const shown = new URL(waiting.url()).pathname;
  assert.match(await waiting.textContent("main"), /NoSuchEvent/);
  await kit.look("event-rejected", shown);
  // What is wrong stays wrong: the replay says why, and the envelope stays.
  await tabTo(waiting, "main form button");
  await waiting.keyboard.press("Enter");
  await waiting.waitForSelector("[role=alert]");
  kit.pages.administrator.faults.length = 0;
  const again = await kit.open("/console/events/refused");
  assert.match(await again.textContent("tbody tr:first-child"), /waiting/);
}
