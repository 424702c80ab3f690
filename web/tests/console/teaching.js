// What a guide does for a class or a student: each form is read back over the API.
import assert from "node:assert/strict";

import { COURSE, LESSON } from "./data.js";

const ROSTERING = "/ims/oneroster/rostering/v1p2";

export default async function teaching(t, kit) {
  const { classes } = await kit.api(`${ROSTERING}/classes?filter=course.sourcedId='${COURSE}'`);
  const path = `/console/classes/${classes[0].sourcedId}`;
  const { users } = await kit.api(`${ROSTERING}/classes/${classes[0].sourcedId}/students?limit=100`);
  const page = await kit.open(path, "guide");
  const section = page.locator("#teaching");
  const press = async (button) => {
    await Promise.all([page.waitForEvent("load"), section.locator(`button:text-is("${button}")`).click()]);
    assert.match(await section.locator("[role=status]").textContent(), /done/);
  };
  const assigned = async (id) => {
    const { testAssignments } = await kit.api(`/adaptive/test-assignments?student=${id}`);
    return testAssignments.filter(({ componentResourceSourcedId }) => componentResourceSourcedId === LESSON);
  };

  // A lesson for everybody; a second time changes nothing.
  await section.locator("select[name=lesson]").selectOption(LESSON);
  await section.locator("form:has(select[name=lesson]) input[name=until]").fill("2099-12-31");
  await press("Assign");
  await section.locator("select[name=lesson]").selectOption(LESSON);
  await press("Assign");
  for (const { sourcedId } of users) {
    const found = await assigned(sourcedId);
    assert.equal(found.length, 1, sourcedId);
    assert.match(found[0].expiresAt, /^2(099-12-31|100-01-01)T/);
  }
  await kit.look("class-teaching", `${path}?done=assign`, "guide");

  // A daily goal for one student, who then has another one than the class.
  const [one, other] = users.map(({ sourcedId }) => sourcedId);
  const goal = async (id) => {
    const { data } = await kit.api(`/bridge/enrollments/user/${id}`);
    return data.find(({ course }) => course.id === COURSE).metadata.goals.dailyXp;
  };
  await page.goto(`/console/students/${one}`);
  await section.locator("input[name=dailyXp]").fill("45");
  await section.locator("form:has(select[name=course]) select").selectOption(COURSE);
  await press("Set daily goal");
  assert.deepEqual([await goal(one), await goal(other)], [45, 30]);
  await section.locator("form:has(select[name=course]) select").selectOption(COURSE);
  await press("Set daily goal");
  assert.equal(await goal(one), 30, "the goal of the course");

  // Left out of the plan, and taken in again.
  const plan = async () => JSON.stringify(await kit.api(`/adaptive/lessonPlans/${COURSE}/${one}`));
  await section.locator("select[name=lesson]").selectOption(LESSON);
  await press("Leave out");
  assert.ok(!(await plan()).includes(LESSON));
  await section.locator("select[name=lesson]").selectOption(LESSON);
  await press("Take in again");
  assert.ok((await plan()).includes(LESSON));

  // A reset takes the answers back.
  const log = async () => (await kit.api(`/adaptive/getAttemptLog?student=${one}&lesson=${LESSON}`)).log.length;
  const next = `/adaptive/getNextQuestion?student=${one}&lesson=${LESSON}`;
  const { question } = await kit.api(next);
  await kit.server.call("PUT", "/adaptive/updateStudentQuestionResponse", { student: one, lesson: LESSON, question: question.id, responses: { RESPONSE: "A" } });
  assert.ok((await log()) > 0);
  await section.locator("select[name=lesson]").selectOption(LESSON);
  await press("Reset last attempt");
  assert.equal(await log(), 0);
  await kit.look("student-teaching", `/console/students/${one}`, "guide");
  const [reset] = await kit.exported("/console/system/audit");
  assert.deepEqual([reset.what, reset.subject, reset.who], ["students.reset", one, "guide@example.org"]);

  // More time in tests, which the page and its form show; and no extra time again.
  const about = () => page.locator("main").textContent();
  const factor = section.locator("select[name=factor]");
  const minutes = section.locator("input[name=minutes]");
  assert.equal(await factor.inputValue(), "none");
  await factor.selectOption("1.25");
  await minutes.fill("10");
  await press("Set extra time");
  assert.match(await about(), /1\.25 × the time and 10 minutes more in tests/);
  assert.deepEqual([await factor.inputValue(), await minutes.inputValue()], ["1.25", "10"]);
  await factor.selectOption("none");
  await press("Set extra time");
  assert.doesNotMatch(await about(), /the time and/);
  assert.deepEqual([await factor.inputValue(), await minutes.inputValue()], ["none", ""]);
  const [change] = await kit.exported("/console/system/audit");
  assert.deepEqual([change.what, change.subject, change.who], ["students.extra-time", one, "guide@example.org"]);
}
