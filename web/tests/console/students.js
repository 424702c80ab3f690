// Students and one student: lists, rings, sums, answers; each number is the API's.
import assert from "node:assert/strict";

import { COURSE, LESSON } from "./data.js";
import { STUDENTS, ZONE, numberOf, tabTo } from "./kit.js";

const date = (back) => new Intl.DateTimeFormat("en-CA", { timeZone: ZONE }).format(new Date(Date.now() - back * 24 * 60 * 60 * 1000));

export default async function students(t, kit) {
  await kit.look("students", "/console/students", "guide");
  const page = kit.pages.guide.page;
  const rows = page.locator(".list tbody tr");

  // The list is the roster's; it sorts, filters, pages.
  const list = await kit.exported("/console/students", "guide");
  assert.equal(list.length, STUDENTS);
  const { users } = await kit.api("/ims/oneroster/rostering/v1p2/students?limit=3000");
  assert.equal(users.length, list.length);
  await page.click("th a >> text=XP today");
  await page.waitForURL("**sort=-xp*");
  const xp = (await rows.locator("td:nth-child(4)").allTextContents()).map(numberOf);
  assert.deepEqual(xp, [...xp].sort((a, b) => b - a));
  assert.deepEqual(xp, list.map((row) => row.xp).sort((a, b) => b - a).slice(0, 50));
  await page.click("a[rel=next]");
  await page.waitForURL("**page=2*");
  assert.match(await page.textContent(".pages"), /51–100 of/);
  const wanted = kit.students[0];
  await tabTo(page, "input[type=search]");
  await page.keyboard.type(`${wanted.givenName} ${wanted.familyName}`);
  await page.keyboard.press("Enter");
  await page.waitForURL("**filter=*");
  const found = await rows.locator("td:first-child").allTextContents();
  assert.ok(found.includes(`${wanted.givenName} ${wanted.familyName}`));
  assert.ok(found.every((name) => name.includes(wanted.givenName) && name.includes(wanted.familyName)), found.join());
  const csv = await (await page.request.get("/console/students?export=csv")).text();
  assert.equal(csv.trim().split("\n").length, STUDENTS + 1);
  assert.equal(csv.split("\n")[0], "name,grade,school,xp,goal,accuracy,minutes,seen");

  await page.goto("/console/students?page=999");
  assert.match(await page.textContent(".empty"), /does not have this page/);

  // Filtered by school and by grade: as many as the API has.
  await page.goto("/console/students");
  const { orgs } = await kit.api("/ims/oneroster/rostering/v1p2/schools?limit=100");
  const [{ sourcedId: school, name }] = orgs.filter(({ name }) => list.some((row) => row.school === name));
  const ofSchool = await kit.api(`/ims/oneroster/rostering/v1p2/schools/${school}/students?limit=1`);
  assert.equal((await kit.exported(`/console/students?school=${encodeURIComponent(name)}`, "guide")).length, ofSchool.totalCount, name);
  const [grade] = users[0].grades;
  await page.selectOption("select[name=grade]", grade);
  await page.waitForURL(`**grade=${grade}*`);
  const ofGrade = users.filter(({ grades }) => grades[0] === grade).length;
  assert.equal(numberOf((await page.textContent(".pages span")).split("of")[1]), ofGrade);

  // The numbers of a row are the API's for today.
  for (const { sourcedId, givenName, familyName } of kit.students.slice(0, 4)) {
    const { facts } = await kit.activity(sourcedId, date(0), date(0));
    const sums = { xp: 0, minutes: 0, questions: 0, right: 0 };
    for (const { activityMetrics, timeSpentMetrics } of Object.values(facts[date(0)] ?? {})) {
      sums.xp += activityMetrics.xpEarned;
      sums.questions += activityMetrics.totalQuestions;
      sums.right += activityMetrics.correctQuestions;
      sums.minutes += timeSpentMetrics.activeSeconds / 60;
    }
    const found = list.filter(({ name, xp }) => name === `${givenName} ${familyName}` && xp === sums.xp);
    assert.ok(found.length > 0, `${givenName} ${familyName} with ${sums.xp} XP`);
    assert.ok(found.some(({ minutes }) => Math.abs(minutes - sums.minutes) < 0.001), `${sums.minutes} minutes`);
    const share = sums.questions ? (sums.right * 100) / sums.questions : null;
    assert.ok(found.some(({ accuracy }) => accuracy === share), `${share} %`);
  }

  await student(kit, wanted);
}

/** Seconds as the console writes them. */
function span(seconds) {
  if (seconds < 60) return `${seconds}\u00a0s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}\u00a0min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)}\u00a0h\u00a0${String(Math.floor((seconds % 3600) / 60)).padStart(2, "0")}\u00a0min`;
  return `${Math.floor(seconds / 86_400)}\u00a0days`;
}

async function student(kit, { sourcedId: id, givenName, familyName }) {
  const path = `/console/students/${id}`;
  const page = await kit.look("student", path, "guide");
  assert.equal(await page.textContent("h1"), `${givenName} ${familyName}`);

  // The rings: XP of today by subject, as the API says, of the goal of the course.
  const { facts } = await kit.activity(id, date(0), date(0));
  const rings = page.locator(".rings li");
  const goal = await kit.api(`/bridge/enrollments/user/${id}`);
  assert.match(JSON.stringify(goal), new RegExp(`"dailyXp":30.*${COURSE}|${COURSE}.*"dailyXp":30`));
  for (const [subject, { activityMetrics }] of Object.entries(facts[date(0)] ?? {})) {
    const ring = rings.filter({ hasText: subject });
    assert.equal(numberOf(await ring.locator("svg text").textContent()), activityMetrics.xpEarned, subject);
  }
  assert.match(await rings.filter({ hasText: "Math" }).textContent(), /of 30 XP/);

  // The sums of each range, and the bars of each day.
  for (const days of [7, 30, 90]) {
    await page.click(`.choose a >> text=${days} days`);
    await page.waitForURL(`**days=${days}*`);
    const sums = await kit.sums(id, date(days - 1), date(0));
    const cells = page.locator("tr.sum td");
    assert.equal(numberOf(await cells.nth(0).textContent()), sums.xp);
    assert.equal(numberOf(await cells.nth(1).textContent()), sums.questions);
    assert.equal(numberOf(await cells.nth(2).textContent()), sums.correct);
    assert.equal(await cells.nth(3).textContent(), `${Math.round((sums.correct * 100) / sums.questions)}%`);
    const times = { active: 0, waste: 0, units: 0 };
    for (const { activityMetrics, timeSpentMetrics } of Object.values((await kit.activity(id, date(days - 1), date(0))).facts).flatMap((day) => Object.values(day))) {
      times.active += timeSpentMetrics.activeSeconds;
      times.waste += timeSpentMetrics.wasteSeconds;
      times.units += activityMetrics.masteredUnits;
    }
    assert.equal(numberOf(await cells.nth(4).textContent()), times.units);
    assert.equal(await cells.nth(5).textContent(), span(times.active));
    assert.equal(await cells.nth(6).textContent(), span(times.waste));
    const active = await page.locator("section:has(#time-heading) .bar title").allTextContents();
    const minutes = active.reduce((sum, text) => sum + numberOf(text.split(": ")[1]), 0);
    assert.ok(Math.abs(minutes - times.active / 60) < 0.05 * days, `${minutes} of ${times.active / 60}`);
    const bars = await page.locator("section:has(#xp-heading) .bar title").allTextContents();
    assert.equal(bars.length, days);
    const shown = bars.reduce((sum, text) => sum + numberOf(text.split(": ")[1]), 0);
    assert.ok(Math.abs(shown - sums.xp) < 0.05 * days, `${shown} of ${sums.xp}`);
  }

  // A number leads to the events that it is made of, and these to what was sent.
  const row = page.locator(".stacks tbody tr").first();
  const subject = await row.locator("th").textContent();
  const sums = await kit.sums(id, date(89), date(0), subject);
  await row.locator("td a").first().click();
  await page.waitForURL("**/facts?*");
  const events = await kit.exported(page.url(), "guide");
  assert.equal(events.reduce((sum, event) => sum + event.xp, 0), sums.xp);
  assert.match(await page.textContent(".lead"), new RegExp(`${sums.correct} of ${sums.questions} answers correct`));
  assert.equal(numberOf(await page.textContent(".lead strong")), sums.xp);
  assert.equal(events.reduce((sum, event) => sum + event.correct, 0), sums.correct);
  await page.locator(".list tbody td:nth-child(4) a").first().click();
  await page.waitForURL("**/event?number=*");
  assert.match(await page.textContent("pre"), new RegExp(`"subject": "${subject}"`));
  await kit.look("student-event", page.url(), "guide");

  // Every answer, and why it was asked: the log of the API.
  const { log } = await kit.api(`/powerpath/getAttemptLog?student=${id}&lesson=${LESSON}`);
  const answers = await kit.exported(`${path}`, "guide");
  assert.equal(answers.length, log.length);
  const text = ({ item }) => `Look at the cake. What is half of ${item.at(-1)}?`;
  assert.deepEqual(answers.map(({ question }) => question).reverse(), log.map(text));
  assert.deepEqual(answers.map(({ given }) => given ?? "").reverse(), log.map(({ answered }) => answered?.responses.RESPONSE.toLowerCase() ?? ""));
  assert.deepEqual(answers.map(({ outcome }) => outcome).reverse(), ["right", "wrong", "not answered"]);
  for (const { why } of answers) assert.match(why, /^At score \d+, the next question is (easy|medium|hard)/);
  await page.goto(path);
  assert.deepEqual(await page.locator(".list tbody td:nth-child(5)").allTextContents(), answers.map(({ question }) => question));

  // A score leads to the attempt that it comes from: what was given, and what came of it.
  await page.locator('.list td[data-label="Lesson score"] a').first().click();
  await page.waitForURL("**/attempt?*");
  await kit.look("student-attempt", page.url(), "guide");
  const steps = await kit.exported(page.url(), "guide");
  assert.deepEqual(steps.map(({ question }) => question), log.map(text));
  assert.deepEqual(steps.map(({ correct }) => correct), log.map(() => "a"));
  const answered = log.filter(({ answered }) => answered).map(({ answered }) => answered);
  assert.deepEqual(steps.slice(0, 2).map(({ given }) => given), answered.map(({ responses }) => responses.RESPONSE.toLowerCase()));
  assert.deepEqual(steps.slice(0, 2).map(({ points }) => points), answered.map(({ score }) => score));
  assert.deepEqual(steps.slice(0, 2).map(({ score }) => score), answered.map(({ points }) => points));

  // Somebody who has done nothing, and nobody.
  const { users } = await kit.api("/ims/oneroster/rostering/v1p2/students?limit=1&sort=sourcedId&orderBy=desc");
  await kit.look("student-without-work", `/console/students/${users[0].sourcedId}`, "guide");
  await page.goto("/console/students/nobody-of-that-name");
  assert.equal(await page.textContent("h1"), "Page not found");
}
