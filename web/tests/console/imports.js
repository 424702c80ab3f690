// Imports: a zip is sent, checked, imported; errors are listed and can be downloaded as a file; a server that is
// killed goes on with what it had begun.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { binary, folder } from "../server.js";
import { STUDENTS, numberOf, tabTo } from "./kit.js";

const ROSTERING = "/ims/oneroster/rostering/v1p2";
const MANIFEST = "propertyName,value\nmanifest.version,1.0\noneroster.version,1.2\nfile.orgs,delta\n";
const HEAD = "sourcedId,status,dateLastModified,name,type,identifier,parentSourcedId\n";

/** A zip with these files, stored as they are. */
function zip(files) {
  const [bodies, entries] = [[], []];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const [label, data] = [Buffer.from(name), Buffer.from(text)];
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt16LE(20, 4);
    const common = Buffer.alloc(16);
    common.writeUInt32LE(crc32(data), 4);
    common.writeUInt32LE(data.length, 8);
    common.writeUInt32LE(data.length, 12);
    common.copy(head, 10);
    head.writeUInt16LE(label.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(20, 4);
    entry.writeUInt16LE(20, 6);
    common.copy(entry, 12);
    entry.writeUInt16LE(label.length, 28);
    entry.writeUInt32LE(offset, 42);
    bodies.push(head, label, data);
    entries.push(entry, label);
    offset += head.length + label.length + data.length;
  }
  const size = entries.reduce((sum, part) => sum + part.length, 0);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length / 2, 8);
  end.writeUInt16LE(entries.length / 2, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...bodies, ...entries, end]);
}

function crc32(data) {
  let crc = ~0;
  for (const byte of data) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (0xedb88320 & -(crc & 1));
  }
  return ~crc >>> 0;
}

async function send(page, name, buffer) {
  await page.goto("/console/imports");
  await page.setInputFiles("input[type=file]", { name, mimeType: "application/zip", buffer });
  await tabTo(page, "form.drop button");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/imports\/\d+$/);
}

const settled = (page, text) => page.waitForFunction((wanted) => document.querySelector("main [role=status]")?.textContent.startsWith(wanted), text);

export default async function imports(t, kit) {
  const page = await kit.open("/console/imports");
  // A server that is killed while it checks goes on with it when it is back, once the lease of its former self ended.
  const file = join(folder(), "network.zip");
  execFileSync(binary, ["demo", "generate", "--complete", "--students", String(STUDENTS), "--seed", "9", "--out", file, "--quiet"]);
  await send(page, "network.zip", readFileSync(file));
  const interrupted = page.url();
  await kit.server.kill();
  await kit.server.run();

  const orgs = `${HEAD}annex,active,2026-09-01T00:00:00Z,<b>Annex</b>,school,,\nattic,active,2026-09-01T00:00:00Z,Attic,castle,,\n`;
  await send(page, "schools.zip", zip({ "manifest.csv": MANIFEST, "orgs.csv": orgs }));
  const path = new URL(page.url()).pathname;

  // The check tells what there is, and changes nothing.
  await settled(page, "The file has 1 error");
  assert.match(await page.textContent(".list"), /orgs\.csv[\s\S]*3[\s\S]*castle/);
  await assert.rejects(kit.api(`${ROSTERING}/orgs/annex`), /404/);
  const refused = await (await page.request.get(`${path}/refused.csv`)).text();
  assert.match(refused, /^file,line,column,value,problem,remedy,row\n.*castle/);
  const errors = await kit.exported(path);
  assert.equal(errors.length, refused.trim().split("\n").length - 1);
  await kit.look("import-checked", path);
  // Two rows of one file: one is new, one is refused.
  assert.deepEqual((await page.locator("#files + .scroll tbody td").allTextContents()).map(Number), [2, 1, 0, 0, 0, 0, 0, 1]);

  // Each number opens its rows, by keyboard.
  await page.goto(path);
  await tabTo(page, "#files + .scroll td:last-child a");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/rows?file=orgs&came=rejected");
  assert.match(await page.textContent("tbody"), /3[\s\S]*refused/);
  await kit.look("import-rows", `${path}/rows?file=orgs`);
  const came = async (query) => (await kit.exported(`${path}/rows?file=orgs${query}`)).map(({ line, record, came }) => [line, record, came]);
  assert.deepEqual(await came(""), [[2, "annex", "new"], [3, "", "refused"]]);
  assert.deepEqual(await came("&came=created"), [[2, "annex", "new"]]);

  // The good rows go in, by keyboard.
  await page.goto(path);
  await tabTo(page, "button.main");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Import the good rows");
  await page.keyboard.press("Enter");
  await settled(page, "The file is imported");
  assert.equal((await kit.api(`${ROSTERING}/orgs/annex`)).org.name, "<b>Annex</b>");
  await assert.rejects(kit.api(`${ROSTERING}/orgs/attic`), /404/);
  assert.equal(await page.locator("button.main").count(), 0);

  // Letters with accents are found and ordered as people write and order them, whoever types them how.
  const named = `${HEAD}zoe,active,2026-09-01T00:00:00Z,Zoë Ångström School,school,,\n`;
  await send(page, "été.zip", zip({ "manifest.csv": MANIFEST, "orgs.csv": named }));
  await settled(page, "The file has no errors");
  assert.equal(await page.textContent("h1"), "été.zip");
  await page.click("text=Import the file");
  await settled(page, "The file is imported");
  assert.equal((await kit.api(`${ROSTERING}/orgs/zoe`)).org.name, "Zoë Ångström School");
  assert.deepEqual((await kit.exported("/console/imports?filter=ETE")).map(({ file }) => file), ["été.zip"]);
  const files = (await kit.exported("/console/imports?sort=file")).map(({ file }) => file);
  assert.deepEqual(files, ["été.zip", "network.zip", "schools.zip"]);

  // What is no zip, and what somebody does not want.
  await send(page, "letter.zip", Buffer.from("Dear administrator"));
  await page.waitForSelector(".problem");
  await send(page, "more.zip", zip({ "manifest.csv": MANIFEST, "orgs.csv": `${HEAD}barn,active,2026-09-01T00:00:00Z,Barn,school,,\n` }));
  await settled(page, "The file has no errors");
  await page.click("text=Discard");
  await settled(page, "The file was discarded");
  await assert.rejects(kit.api(`${ROSTERING}/orgs/barn`), /404/);

  // By now the server has gone on with what it was killed in.
  await page.goto(interrupted);
  await settled(page, "The file has no errors");
  const rows = (await kit.exported("/console/imports")).find(({ file }) => file === "network.zip");
  const shown = await page.locator("#files + .scroll tbody td:first-of-type").allTextContents();
  assert.equal(rows.rows, shown.reduce((sum, text) => sum + numberOf(text), 0));
  // Of a whole network, too.
  const links = await page.locator("#files + .scroll tbody td a").evaluateAll((links) => links.map((link) => [link.getAttribute("href"), link.textContent]));
  assert.ok(links.length > 10);
  for (const [href, count] of links) assert.equal((await kit.exported(href)).length, numberOf(count), href);
  await kit.look("imports", "/console/imports");

  // Nobody but administrators, and nobody without the form's token.
  assert.equal((await kit.pages.guide.page.request.get(path)).status(), 403);
  const forged = await page.request.post("/console/imports", { multipart: { file: { name: "a.zip", mimeType: "application/zip", buffer: Buffer.from("x") } } });
  assert.equal(forged.status(), 403);
}
