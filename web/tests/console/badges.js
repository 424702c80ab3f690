// Badges and records: issued, shown, verified, revoked in a browser; the API says the same.
import assert from "node:assert/strict";

import { tabTo } from "./kit.js";

const OB = "/ims/ob/v3p0";
const ACHIEVEMENT = "https://example.org/achievements/rivers";

const definition = {
  "@context": ["https://www.w3.org/ns/credentials/v2", "https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.3.json"],
  id: "https://example.org/badges/rivers",
  type: ["VerifiableCredential", "OpenBadgeCredential"],
  issuer: "https://example.org/issuers/1",
  name: "<b>Rivers</b>",
  credentialSubject: {
    id: ACHIEVEMENT,
    type: ["Achievement"],
    name: "<b>Rivers</b>",
    description: "Knows the rivers",
    criteria: { narrative: "Names ten rivers" },
  },
};

/** A record of what a learner achieved, as an app sends it. */
const learnerRecord = (kit, learner) => ({
  "@context": ["https://www.w3.org/2018/credentials/v1", "https://purl.imsglobal.org/spec/clr/v2p0/context.json"],
  id: "https://example.org/clr/1",
  type: ["VerifiableCredential", "ClrCredential"],
  name: "Record of <i>Rivers</i>",
  issuer: { id: "https://example.org/issuers/1", name: "Example School" },
  credentialSubject: {
    id: `${kit.server.base}/ims/oneroster/rostering/v1p2/users/${learner}`,
    type: ["LearnerProfile"],
    achievement: ["Rhine", "Seine"].map((name) => ({ id: `https://example.org/achievements/${name}`, type: ["Achievement"], name, description: `Knows the ${name}` })),
  },
});

const assertion = (kit, id) => kit.api(`${OB}/assertions/${encodeURIComponent(id)}`);
const shownChecks = (page) => page.locator(".checks tbody tr").evaluateAll((rows) => rows.map((row) => [row.cells[0].textContent, row.cells[1].textContent]));

export default async function badges(t, kit) {
  let page = await kit.look("badges-empty", "/console/badges", "guide");
  assert.match(await page.textContent(".empty"), /No badges have been issued yet/);
  await kit.server.call("POST", `${OB}/badges`, definition);

  // Issuing, by keyboard alone.
  const [student] = kit.students;
  await page.goto("/console/badges");
  await tabTo(page, "a.button.main");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/badges/issue");
  await tabTo(page, "input[type=search]");
  await page.keyboard.type(student.sourcedId);
  await page.keyboard.press("Enter");
  await page.waitForURL("**learner=*");
  await kit.look("badge-issue", page.url(), "guide");
  await tabTo(page, "input[name=narrative]");
  await page.keyboard.type("Named twelve");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/badges/credentials/**");
  assert.equal(await page.textContent("h1"), "<b>Rivers</b>");
  assert.match(await page.textContent("[role=status]"), /is issued/);

  // Each check is the one that the API tells; the list has it.
  const id = new URL(page.url()).pathname.split("/").at(-1).replaceAll("%2D", "-");
  const { verification, credential } = await assertion(kit, id);
  assert.deepEqual(await shownChecks(page), verification.checks.map(({ name, outcome }) => [name, outcome]));
  assert.equal(credential.credentialSubject.narrative, "Named twelve");
  const listed = await kit.exported("/console/badges", "guide");
  const { credential: all } = await kit.api(`${OB}/credentials?limit=100`);
  assert.equal(listed.length, all.length);
  assert.equal(listed[0].learner, `${student.givenName} ${student.familyName}`);
  const [{ issued }] = await kit.exported("/console/badges/definitions", "guide");
  assert.equal(issued, listed.length);
  await kit.look("badge", `/console/badges/credentials/${id}`, "guide");
  await kit.look("badges", "/console/badges", "guide");
  await kit.look("badge-definitions", "/console/badges/definitions", "guide");
  // A learner record opens its achievements, which the API tells too.
  await kit.look("badge-records-empty", "/console/badges/records", "guide");
  const record = await kit.server.call("POST", "/ims/clr/v2p0/credentials", learnerRecord(kit, student.sourcedId));
  await kit.look("badge-records", "/console/badges/records", "guide");
  await tabTo(page, "td[data-label='Achievements'] a");
  await page.keyboard.press("Enter");
  await page.waitForURL("**/badges/records/*");
  assert.match(await page.textContent("h1"), /^Record of <i>Rivers<\/i>$/);
  const achieved = await kit.exported(new URL(page.url()).pathname, "guide");
  const held = [record.credentialSubject.achievement].flat();
  assert.deepEqual(achieved.map(({ name, id }) => [name, id]), held.map(({ name, id }) => [name, id]));
  await kit.look("badge-record", new URL(page.url()).pathname, "guide");

  // A file that is dropped is verified, and one that was changed is not.
  const file = await (await page.request.get(`/credentials/${id}.png`)).body();
  await page.goto("/console/badges/verify");
  await page.setInputFiles("input[type=file]", { name: "rivers.png", mimeType: "image/png", buffer: file });
  await page.click("form.drop button");
  await page.waitForSelector(".checks");
  assert.match(await page.textContent("[role=status]"), /^Verified/);
  assert.equal(await page.textContent("#result"), "rivers.png");
  const json = await (await page.request.get(`/credentials/${id}.json`)).text();
  await page.evaluate((text) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([text], "changed.json", { type: "application/json" }));
    document.querySelector("[data-drop]").dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
  }, json.replace("Named twelve", "Named twenty"));
  await page.waitForFunction(() => document.querySelector("#result")?.textContent === "changed.json");
  assert.match(await page.textContent("main [role=status]"), /^Not verified/);
  assert.ok((await shownChecks(page)).some(([name, outcome]) => name === "proof" && outcome === "failed"));

  // Revoking needs a reason, and everybody is told.
  page = await kit.open(`/console/badges/credentials/${id}`, "guide");
  await page.click("button.bad");
  assert.equal(new URL(page.url()).searchParams.get("done"), null, "the reason is required");
  await page.fill("input[name=reason]", "Given by <i>mistake</i>");
  await page.click("button.bad");
  await page.waitForURL("**done=revoked*");
  assert.match(await page.textContent(".problem"), /Revoked on .*: Given by <i>mistake<\/i>/);
  const told = await assertion(kit, id);
  assert.equal(told.revoked.reason, "Given by <i>mistake</i>");
  assert.equal((await kit.exported("/console/badges?state=valid", "guide")).length, 0);
  assert.equal((await kit.exported("/console/badges?state=revoked", "guide")).length, 1);
  assert.equal(await page.locator("button.bad").count(), 0);

  // Without the form's token nothing happens; a developer sees nothing.
  const forged = await page.request.post("/console/badges/issue", { form: { learner: student.sourcedId, achievement: ACHIEVEMENT } });
  assert.equal(forged.status(), 403);
  const media = await page.request.post("/console/badges/verify", { multipart: { file: { name: "a.png", mimeType: "image/png", buffer: file } } });
  assert.equal(media.status(), 403);
  assert.equal((await kit.pages.developer.page.request.get("/console/badges")).status(), 403);
}
