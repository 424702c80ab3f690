// Classes and one class: each number is what the API says for the same days and subject.
import assert from "node:assert/strict";

import { COURSE } from "./data.js";
import { ZONE, numberOf, tabTo } from "./kit.js";

const ROSTERING = "/ims/oneroster/rostering/v1p2";
const date = (back) => new Intl.DateTimeFormat("en-CA", { timeZone: ZONE }).format(new Date(Date.now() - back * 24 * 60 * 60 * 1000));
const near = (shown, wanted, told) => assert.ok(Math.abs(shown - wanted) < 0.051, `${told}: ${shown} of ${wanted}`);

export default async function classes(t, kit) {
  const page = await kit.look("classes", "/console/classes", "guide");
  const list = await kit.exported("/console/classes", "guide");
  const { totalCount, classes: all } = await kit.api(`${ROSTERING}/classes?limit=3000`);
  assert.equal(list.length, totalCount);
  const { sourcedId: id, title } = all.find(({ course }) => course.sourcedId === COURSE);
  const { users } = await kit.api(`${ROSTERING}/classes/${id}/students?limit=3000`);
  assert.equal(list.find((row) => row.title === title && row.course === "Fractions").students, users.length);
  for (const row of list.slice(0, 3)) {
    const [known] = all.filter(({ title, classCode }) => title === row.title && (classCode ?? "") === row.code);
    for (const [key, path] of [["students", "students"], ["teachers", "teachers"]]) {
      const { totalCount } = await kit.api(`${ROSTERING}/classes/${known.sourcedId}/${path}?limit=1`);
      assert.equal(row[key], totalCount, `${key} of ${row.title}`);
    }
  }
  // Filtered by subject and by school: as many as the API has.
  const { courses } = await kit.api(`${ROSTERING}/courses?limit=3000`);
  const ofMath = new Set(courses.filter(({ subjects }) => subjects?.includes("Math")).map(({ sourcedId }) => sourcedId));
  const math = await kit.exported("/console/classes?subject=Math", "guide");
  assert.equal(math.length, all.filter(({ subjects, course }) => (subjects?.length ? subjects.includes("Math") : ofMath.has(course.sourcedId))).length);
  const { orgs } = await kit.api(`${ROSTERING}/schools?limit=1`);
  const there = await kit.exported(`/console/classes?school=${encodeURIComponent(orgs[0].name)}`, "guide");
  assert.equal(there.length, (await kit.api(`${ROSTERING}/schools/${orgs[0].sourcedId}/classes?limit=1`)).totalCount);

  // By keyboard: find the class and open it.
  await tabTo(page, "input[type=search]");
  await page.keyboard.type("Fractions");
  await page.keyboard.press("Enter");
  await page.waitForURL("**filter=Fractions*");
  await tabTo(page, "td a");
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/classes/${encodeURIComponent(id)}`);

  const path = `/console/classes/${id}`;
  await kit.look("class", path, "guide");
  assert.equal(await page.locator(".heat tbody tr").count(), users.length);
  for (const [days, subject] of [[14, ""], [7, "Math"], [28, ""]]) {
    await page.goto(`${path}?days=${days}&subject=${subject}`);
    const rows = await kit.exported(page.url(), "guide");
    assert.equal(rows.length, users.length);
    for (const user of users.slice(0, 4)) {
      const name = `${user.givenName} ${user.familyName}`;
      const { facts } = await kit.activity(user.sourcedId, date(days - 1), date(0));
      const sums = { xp: 0, active: 0, questions: 0, right: 0, days: 0 };
      for (let back = days - 1; back >= 0; back -= 1) {
        const day = Object.entries(facts[date(back)] ?? {}).filter(([known]) => !subject || known === subject);
        const xp = day.reduce((sum, [, { activityMetrics }]) => sum + activityMetrics.xpEarned, 0);
        for (const [, { activityMetrics, timeSpentMetrics }] of day) {
          sums.xp += activityMetrics.xpEarned;
          sums.active += timeSpentMetrics.activeSeconds;
          sums.questions += activityMetrics.totalQuestions;
          sums.right += activityMetrics.correctQuestions;
        }
        sums.days += day.length > 0 ? 1 : 0;
        const cell = page.locator(".heat tbody tr", { hasText: name }).locator("td").nth(days - 1 - back);
        near(numberOf((await cell.textContent()).trim() || "0"), xp, `${name}, ${date(back)}`);
      }
      const row = rows.find((row) => row.name === name);
      assert.equal(row.xp, sums.xp, name);
      near(row.minutes, sums.active / 60, name);
      assert.equal(row.answers, sums.questions, name);
      assert.equal(row.days, sums.days, name);
      near(row.xpPerMinute ?? 0, sums.active ? (sums.xp * 60) / sums.active : 0, name);
      near(row.accuracy ?? 0, sums.questions ? (sums.right * 100) / sums.questions : 0, name);
    }
    const active = rows.filter(({ xp, minutes }) => xp > 0 || minutes > 0).length;
    assert.equal(await page.locator(".scatter circle").count(), active);
    assert.equal(await page.locator(".accuracies tbody tr").count(), rows.filter(({ accuracy }) => accuracy !== null).length);
  }

  // Of many days the newest ones are seen first.
  await page.goto(`${path}?days=90`);
  const end = await page.locator("[data-newest]").evaluate((part) => part.scrollWidth - part.clientWidth - part.scrollLeft);
  assert.ok(Math.abs(end) < 2, `${end} px are hidden at the right`);
  await kit.look("class-90-days", `${path}?days=90`, "guide");
  await page.goto(path);
  // No label of the picture is cut.
  const cut = await page.locator("svg.scatter").evaluate((svg) => {
    const { left, right } = svg.getBoundingClientRect();
    return [...svg.querySelectorAll("text")].filter((text) => text.getBoundingClientRect().left < left - 0.5 || text.getBoundingClientRect().right > right + 0.5).map((text) => text.textContent);
  });
  assert.deepEqual(cut, []);

  // A cell leads to the events that it is made of.
  const cell = page.locator(".heat td a").last();
  const xp = numberOf(await cell.textContent());
  await cell.click();
  await page.waitForURL("**/facts?*");
  const events = await kit.exported(page.url(), "guide");
  near(events.reduce((sum, event) => sum + event.xp, 0), xp, "the events");

  // A choice takes effect at once.
  await page.goto(path);
  await page.selectOption("select[name=days]", "7");
  await page.waitForURL("**days=7*");
  assert.equal(await page.locator(".heat thead th").count(), 8);
  assert.equal((await page.request.get("/console/classes/nowhere")).status(), 404);

  // Who is no guide does not see it.
  assert.equal((await kit.pages.developer.page.request.get(path)).status(), 403);
}
