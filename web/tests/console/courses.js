// Courses: the tree in its order, what it covers; the numbers are the API's.
import assert from "node:assert/strict";

import { COURSE } from "./data.js";
import { numberOf } from "./kit.js";

const ROSTERING = "/ims/oneroster/rostering/v1p2";
const CASE = "/ims/case/v1p1";
const DOCUMENT = "0e5e0001-0000-4000-8000-000000000000";
const ITEM = "0e5e0001-0000-4000-8000-000000000001";
const NOW = "2026-01-15T08:00:00Z";

/** A framework of one standard. */
function framework() {
  const uri = (kind, id) => `https://standards.example.org/${kind}/${id}`;
  const link = { title: "Numbers", identifier: DOCUMENT, uri: uri("CFDocuments", DOCUMENT) };
  return {
    CFDocument: { identifier: DOCUMENT, uri: link.uri, creator: "Example", title: "Numbers", lastChangeDateTime: NOW, CFPackageURI: { ...link, uri: uri("CFPackages", DOCUMENT) } },
    CFItems: [{ identifier: ITEM, uri: uri("CFItems", ITEM), fullStatement: "Adds <b>fractions</b>", humanCodingScheme: "N.3", lastChangeDateTime: NOW, CFDocumentURI: link }],
    CFAssociations: [],
  };
}

export default async function courses(t, kit) {
  await kit.server.call("POST", `${CASE}/CFPackages`, framework());
  await kit.server.call("PUT", `${CASE}/alignments/courseComponent/console-unit`, { items: [ITEM] });
  await kit.look("courses", "/console/courses", "guide");
  const list = await kit.exported("/console/courses", "guide");
  const { totalCount, courses: all } = await kit.api(`${ROSTERING}/courses?limit=3000`);
  assert.equal(list.length, totalCount);
  const { classes } = await kit.api(`${ROSTERING}/courses/${COURSE}/classes`);
  assert.equal(list.find(({ title }) => title === "Fractions").classes, classes.length);

  const math = await kit.exported("/console/courses?subject=Math", "guide");
  assert.equal(math.length, all.filter(({ subjects }) => subjects?.includes("Math")).length);

  const page = await kit.look("course", `/console/courses/${COURSE}`, "guide");
  assert.match(await page.textContent(".tree"), /1\s*Halves[\s\S]*1\.1\s*Halves and quarters/);
  const [components, lessons, standards, taught] = (await page.locator(".counts strong").allTextContents()).map(numberOf);
  const { items } = await kit.api(`${CASE}/alignments/courseComponent/console-unit`);
  assert.deepEqual([components, lessons, standards, taught], [1, 1, items.length, classes.length]);
  assert.equal(await page.locator(".tree .standard").textContent(), "N.3");
  await page.click(".tree .standard");
  await page.waitForURL(`**#standard-${ITEM}`);
  assert.match(await page.textContent(".standards"), /Adds <b>fractions<\/b>[\s\S]*1 Halves/);

  // A course of the demo network: every component and lesson, in the order of the syllabus.
  for (const { sourcedId } of all.filter(({ sourcedId }) => sourcedId !== COURSE).slice(0, 3)) {
    const { syllabus } = await kit.api(`/adaptive/syllabus/${sourcedId}`);
    const titles = [];
    const walk = ({ subComponents }) => {
      for (const part of subComponents) {
        titles.push(part.title, ...part.componentResources.map(({ title }) => title));
        walk(part);
      }
    };
    walk(syllabus);
    const tree = await kit.exported(`/console/courses/${sourcedId}`, "guide");
    assert.deepEqual(tree.map(({ title }) => title), titles, sourcedId);
    await page.goto(`/console/courses/${sourcedId}`);
    assert.equal(await page.locator(".tree li").count(), titles.length);
  }
  assert.equal((await page.request.get("/console/courses/nowhere")).status(), 404);
}
