// Webhooks: the list counts what the API counts; a delivery that failed is seen with its reason and replayed.
import assert from "node:assert/strict";
import { createServer } from "node:http";

import { until } from "../server.js";
import { tabTo } from "./kit.js";

const SENSOR = "https://hooks.test/sensor";
const CONTEXT = "http://purl.imsglobal.org/ctx/caliper/v1p2";

export default async function webhooks(t, kit) {
  await kit.look("webhooks-empty", "/console/webhooks");
  let status = 410;
  const received = [];
  const target = createServer((request, response) => {
    request.resume().on("end", () => {
      received.push(request.headers["webhook-id"]);
      response.writeHead(status).end();
    });
  });
  await new Promise((resolve) => target.listen(0, "127.0.0.1", resolve));
  t.after(() => target.close());
  const call = (method, path, body) => kit.server.call(method, path, body);
  const { webhook } = await call("POST", "/webhooks", {
    name: "Reports", description: "Feeds the reports of the school", active: true, sensor: SENSOR, secret: "s",
    targetUrl: `http://127.0.0.1:${target.address().port}/lyceum`,
  });
  await call("POST", "/webhook-filters", {
    webhookId: webhook.id, filterKey: "action", filterOperator: "eq", filterType: "string", filterValue: "LoggedIn", active: true,
  });
  await call("POST", "/ims/caliper/v1p2/events", {
    sensor: SENSOR, sendTime: new Date().toISOString(), dataVersion: CONTEXT,
    data: [{
      "@context": CONTEXT, id: "urn:uuid:00000000-0000-4000-8000-000000990001", type: "SessionEvent", action: "LoggedIn",
      actor: { id: "https://school.test/users/robin", type: "Person" }, eventTime: new Date().toISOString(),
      object: { id: "https://app.test/", type: "SoftwareApplication" },
    }],
  });
  const log = `/webhooks/${webhook.id}/deliveries`;
  const dead = async () => (await kit.api(`${log}?state=dead`)).deliveries;
  await until("the failure", async () => (await dead()).length === 1);

  const page = await kit.look("webhooks", "/console/webhooks");
  assert.match(await page.textContent("tbody tr"), /Reports.*127\.0\.0\.1.*events of https:\/\/hooks\.test\/sensor.*not active/s);
  const [listed] = await kit.exported("/console/webhooks");
  assert.deepEqual([listed.waiting, listed.dead], [0, (await dead()).length]);
  await tabTo(page, "tbody tr:first-child a");
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/webhooks/${webhook.id}`);
  const one = new URL(page.url()).pathname;
  await kit.look("webhook", one);
  assert.match(await page.textContent("main ul"), /action eq "LoggedIn"/);
  assert.match(await page.textContent("tbody tr"), /caliper\.event.*dead.*the target answered 410/s);

  await kit.look("webhook-delivery", await page.getAttribute("tbody tr:first-child a", "href"));
  assert.match(await page.textContent("pre"), /"type": "caliper\.event"/);
  await kit.open(one);

  // The target works again: the webhook is activated, and the delivery replayed by keyboard.
  status = 200;
  await call("PUT", `/webhooks/${webhook.id}/activate`);
  await tabTo(page, "tbody form button");
  await Promise.all([page.waitForEvent("load"), page.keyboard.press("Enter")]);
  await until("the replay", async () => (await kit.api(`${log}?state=delivered`)).deliveries.length === 1);
  const shown = await kit.open(`${one}?state=delivered`);
  assert.match(await shown.textContent("tbody tr"), /delivered.*the target answered 200/s);
  assert.deepEqual(received, [received[0], received[0]], "both times the message has the same id");
  const audit = await kit.open("/console/system/audit?filter=webhook.replay");
  assert.match(await audit.textContent("tbody tr:first-child"), new RegExp(`webhook.replay.*${webhook.id}`, "s"));
}
