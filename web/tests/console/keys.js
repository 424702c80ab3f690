// Apps and keys: a developer makes a key of their own by keyboard, it works, is rotated and revoked; an
// administrator makes a client that gets tokens.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";

import { tabTo } from "./kit.js";

export default async function keys(t, kit) {
  const call = async (key) => (await fetch(`${kit.server.base}/api/auth/me`, { headers: { authorization: `Bearer ${key}` } })).status;

  const page = await kit.open("/console/keys/new");
  await page.waitForSelector("[name=name]:focus");
  await page.keyboard.type("deploys of rivers");
  await tabTo(page, "button.main");
  await page.keyboard.press("Enter");
  const first = await page.textContent(".secret code");
  assert.match(first, /^lk_/);
  assert.equal(await call(first), 200);
  // What the page says of its use is a script that works as it stands.
  const script = (await page.textContent("pre code")).split("\n").filter((line) => !line.startsWith("lyceum deploy")).join("\n");
  assert.match(execFileSync("bash", ["-c", script], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }), /"role":"administrator"|deploys of rivers/);
  await page.click("text=Done");
  const one = new URL(page.url()).pathname;
  await kit.look("key", one);
  assert.doesNotMatch(await page.textContent("main"), new RegExp(first));
  await page.click("text=Create a new secret");
  const second = await page.textContent(".secret code");
  assert.deepEqual([await call(first), await call(second)], [401, 200]);
  await kit.open(one);
  await page.click("text=Revoke deploys of rivers");
  assert.match(await page.textContent(".facts"), /revoked/);
  assert.equal(await call(second), 401);
  const list = await kit.look("keys", "/console/keys");
  assert.match(await list.textContent("tbody"), /deploys of rivers.*administrator@example.org.*revoked/s);
  assert.equal((await kit.exported("/console/keys")).length, JSON.parse(kit.server.lyceum("admin", "key", "list", "--json")).length);
  await kit.look("key-new", "/console/keys/new");

  const client = await kit.look("client-new", "/console/keys/clients/new");
  // A client may do nothing that nobody chose.
  await client.fill("[name=name]", "Reports");
  await client.click("button.main");
  assert.match(await client.textContent("[role=alert]"), /choose what the client may do/);
  await client.fill("[name=name]", "Reports");
  await client.check("[value='lyceum/events.read']");
  await client.click("button.main");
  const [id, secret] = await client.locator(".secret code").allTextContents();
  const body = new URLSearchParams({ grant_type: "client_credentials", client_id: id, client_secret: secret });
  const granted = await (await fetch(`${kit.server.base}/oauth2/token`, { method: "POST", body })).json();
  assert.equal(granted.scope, "lyceum/events.read");
  await client.click("text=Done");
  assert.match(await client.textContent(".facts"), /lyceum\/events.read.*OAuth 1.0ano.*Last used\d/s);
  await kit.look("client", new URL(client.url()).pathname);
  const clients = await kit.look("clients", "/console/keys/clients");
  const known = JSON.parse(kit.server.lyceum("client", "list", "--json"));
  assert.equal(await clients.locator("tbody tr").count(), known.length);
  const log = await kit.open("/console/system/audit?filter=client.create");
  assert.match(await log.textContent("tbody tr:first-child"), new RegExp(`administrator@example.org.*client.create.*${id}`, "s"));
}
