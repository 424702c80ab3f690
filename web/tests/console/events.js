// Events: what the list counts is what the API counts; the live tail shows an event that arrives; a refused one is
// told with its reason and replayed.
import assert from "node:assert/strict";

import { numberOf, tabTo } from "./kit.js";

const CONTEXT = "http://purl.imsglobal.org/ctx/caliper/v1p2";

const event = (id, more) => ({
  "@context": CONTEXT,
  id: `urn:uuid:00000000-0000-4000-8000-${String(id).padStart(12, "0")}`,
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
  // The number opens the event.
  await page.click("tbody tr:first-child td:last-child a");
  assert.match(await page.textContent("pre"), /"urn:uuid:00000000-0000-4000-8000-000000000002"/);
  await kit.look("event", new URL(page.url()).pathname + new URL(page.url()).search);

  // Live, as a developer, by keyboard.
  const live = await kit.open("/console/events", "developer");
  await tabTo(live, "a[href='/console/events/live']");
  await live.keyboard.press("Enter");
  await live.waitForSelector(".pill.good:text('live')");
  const began = Date.now();
  assert.equal((await send(kit, event(4, { object: { id: "https://app.test/<img>", type: "SoftwareApplication", name: "<img src=x>" } }))).status, 200);
  await live.waitForSelector("tbody tr");
  t.diagnostic(`an event is seen after ${Date.now() - began} ms`);
  assert.match(await live.textContent("tbody tr"), /SessionEvent/);
  assert.deepEqual(kit.pages.developer.faults, []);
  await tabTo(live, "[data-pause]");
  await live.keyboard.press("Enter");
  await live.waitForSelector(".pill:text('paused')");
  assert.equal((await send(kit, event(5))).status, 200);
  await kit.look("events-live", "/console/events/live", "developer");

  const waiting = await kit.look("events-refused", "/console/events/refused");
  assert.match(await waiting.textContent("tbody tr:first-child"), /waits/);
  await waiting.click("tbody tr:first-child a");
  const shown = new URL(waiting.url()).pathname;
  assert.match(await waiting.textContent("main"), /NoSuchEvent/);
  await kit.look("event-refused", shown);
  // What is wrong stays wrong: the replay says why, and the envelope stays.
  await waiting.click("text=Replay");
  await waiting.waitForSelector("[role=alert]");
  kit.pages.administrator.faults.length = 0;
  const again = await kit.open("/console/events/refused");
  assert.match(await again.textContent("tbody tr:first-child"), /waits/);
}
