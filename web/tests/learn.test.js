// Students in a real browser: home, a course worked through by keyboard, lost connections, two tabs, signing out.
import assert from "node:assert/strict";
import { test } from "node:test";

import { STEP_MAX_MS, launch, takePicture } from "./chromium.js";
import { axe, tabTo } from "./console/kit.js";
import { Server, binary, until } from "./server.js";

const ROSTERING = "/ims/oneroster/rostering/v1p2";
const RESOURCES = "/ims/oneroster/resources/v1p2";
const PASSWORD = "correct horse";
const LOOKS = [1280, 390].flatMap((width) => ["light", "dark"].map((colorScheme) => ({ width, colorScheme })));
const PAGE_MAX_BYTES = 150_000;
/** A part of each page that only the right answer has. */
const RIGHT = "right-answer";
const skip = binary ? false : "LYCEUM_TEST_BIN names no program";

/** A choice item whose right answer has the identifier `right-answer`. */
function item(name) {
  return `<qti-assessment-item xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0" identifier="${name}" title="${name}" time-dependent="false">
  <qti-response-declaration identifier="RESPONSE" cardinality="single" base-type="identifier"><qti-correct-response><qti-value>${RIGHT}</qti-value></qti-correct-response></qti-response-declaration>
  <qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float"><qti-default-value><qti-value>0</qti-value></qti-default-value></qti-outcome-declaration>
  <qti-item-body><qti-choice-interaction response-identifier="RESPONSE" max-choices="1"><qti-prompt>Which number is even?</qti-prompt>
  <qti-simple-choice identifier="${RIGHT}">four</qti-simple-choice><qti-simple-choice identifier="other">seven</qti-simple-choice></qti-choice-interaction></qti-item-body>
  <qti-response-processing template="https://purl.imsglobal.org/spec/qti/v3p0/rptemplates/match_correct.xml"/>
</qti-assessment-item>`;
}

/** An item that takes a text of any length, which a person scores. */
const essay = `<qti-assessment-item xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0" identifier="essay" title="essay" time-dependent="false">
  <qti-response-declaration identifier="RESPONSE" cardinality="single" base-type="string"/>
  <qti-outcome-declaration identifier="SCORE" cardinality="single" base-type="float" external-scored="human" normal-maximum="1"/>
  <qti-item-body><qti-extended-text-interaction response-identifier="RESPONSE"><qti-prompt>Write about even numbers.</qti-prompt></qti-extended-text-interaction></qti-item-body>
</qti-assessment-item>`;

/** A course with a practice, a quiz, a video and an essay, and two students; Amy learns in it. */
async function fill(server) {
  await server.school("amy", "bob");
  const org = { sourcedId: "school" };
  const metadata = { goals: { dailyXp: 30 } };
  await server.call("POST", `${ROSTERING}/courses`, { course: { sourcedId: "math", title: "Numbers", courseCode: "N", subjects: ["Math"], grades: ["03"], org, metadata } });
  await server.call("POST", `${ROSTERING}/courses/components`, { courseComponent: { sourcedId: "unit", title: "Even and odd", course: { sourcedId: "math" }, sortOrder: 1 } });
  const names = Array.from({ length: 12 }, (_, at) => `q${at}`);
  for (const [at, name] of names.entries()) {
    const difficulty = ["easy", "medium", "hard"][Math.floor(at / 4)];
    await server.call("POST", "/assessment-items", { format: "xml", xml: item(name), metadata: { difficulty, humanApproved: true } });
  }
  await server.call("POST", "/assessment-items", { format: "xml", xml: essay, metadata: { humanApproved: true } });
  const lesson = async (id, title, sortOrder, lessonType, resource) => {
    await server.call("POST", `${RESOURCES}/resources`, { resource: { sourcedId: `r-${id}`, title, vendorResourceId: `t-${id}`, ...resource } });
    const link = { sourcedId: id, title, courseComponent: { sourcedId: "unit" }, resource: { sourcedId: `r-${id}` }, sortOrder, lessonType };
    await server.call("POST", `${ROSTERING}/courses/component-resources`, { componentResource: link });
  };
  const questions = async (id, title, sortOrder, lessonType, items) => {
    const refs = items.map((name) => ({ identifier: name, href: `${name}.xml` }));
    const section = { identifier: "section", title, visible: true, "qti-assessment-item-ref": refs };
    const parts = [{ identifier: "part", navigationMode: "linear", submissionMode: "individual", "qti-assessment-section": [section] }];
    await server.call("POST", "/assessment-tests", { identifier: `t-${id}`, title, "qti-test-part": parts });
    const url = `${server.base}/assessment-tests/t-${id}`;
    const metadata = { type: "qti", subType: "qti-test", xp: 10, subject: "Math", grades: ["3"], url };
    await lesson(id, title, sortOrder, lessonType, { metadata });
  };
  await questions("practice", "Practise even numbers", 1, "powerpath-100", names);
  await questions("quiz", "Quiz about numbers", 2, "quiz", names.slice(0, 3));
  await lesson("film", "A film about numbers", 3, null, { metadata: { type: "video", url: `${server.base}/docs` } });
  await questions("writing", "Write about numbers", 4, "quiz", ["essay"]);
  await server.call("POST", "/bridge/enrollments/enroll/amy/math", {});
  return { lesson, questions };
}

/** Makes an account of a student and signs in with it. */
async function signIn(page, server, name) {
  const person = ["admin", "user", "create", `${name}@example.org`, "--role", "student", "--roster-user", name];
  await page.goto(server.lyceum(...person).trim().replace(/^http:\/\/[^/]+/, server.base));
  await page.fill("#password", PASSWORD);
  await page.keyboard.press("Enter");
  await page.waitForURL("**/learn");
}

/** What the log says that a student answered in the last attempt at a lesson. */
async function answered(server, lesson) {
  const { log } = await server.call("GET", `/powerpath/getAttemptLog?student=amy&lesson=${lesson}`);
  return log.filter((entry) => entry.answered).map(({ item }) => item);
}

/** Looks at the open page: axe finds nothing serious, nothing is cut off, on small and large screens, light and dark. */
async function look(page, name) {
  const { width, height } = page.viewportSize();
  for (const { width, colorScheme } of LOOKS) {
    await page.setViewportSize({ width, height: 844 });
    await page.emulateMedia({ colorScheme });
    await page.evaluate(() => Promise.all(document.getAnimations().map(({ finished }) => finished)));
    await takePicture(page, `learn-${name}-${width}-${colorScheme}`);
    const seen = await page.evaluate(async () => {
      const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
      const root = document.documentElement;
      return { faults: violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`), wide: root.scrollWidth - root.clientWidth };
    });
    assert.deepEqual(seen, { faults: [], wide: 0 }, `${name}, ${width} px, ${colorScheme}`);
  }
  await page.setViewportSize({ width, height });
}

/** The first view of a page is small. */
async function isLight(page) {
  const bytes = await page.evaluate(() => performance.getEntries().reduce((sum, { transferSize }) => sum + (transferSize ?? 0), 0));
  assert.ok(bytes > 1000 && bytes < PAGE_MAX_BYTES, `${page.url()}: ${bytes} bytes`);
}

test("students learn in a browser", { skip }, async (t) => {
  const server = await Server.start(t);
  const { lesson, questions } = await fill(server);
  const browser = await launch(t);
  const open = async () => {
    const context = await browser.newContext({ baseURL: server.base, viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
    await context.addInitScript(axe);
    const page = await context.newPage();
    page.setDefaultTimeout(STEP_MAX_MS);
    const received = [];
    page.on("response", async (response) => {
      if (response.url().includes("/api/learn") || response.url().includes("/learn")) received.push(await response.text().catch(() => ""));
    });
    return { context, page, received };
  };
  const { context, page, received } = await open();
  await signIn(page, server, "amy");

  await t.test("the home has one clear action, and the student's courses", async () => {
    assert.equal(await page.textContent("h1"), "Hello amy");
    assert.match(await page.textContent(".next"), /Practise even numbers.*Start/s);
    assert.deepEqual(await page.locator(".lessons a").allTextContents(), ["Practise even numbers", "Quiz about numbers", "A film about numbers", "Write about numbers"]);
    assert.match(await page.textContent(".rings"), /0 of 30 XP/);
    await look(page, "home");
    await isLight(page);
  });

  await t.test("a practice is worked through by keyboard alone", async () => {
    await tabTo(page, ".next .main");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/learn/lessons/practice");
    await page.getByRole("heading", { name: "Ready?" }).waitFor();
    await look(page, "lesson-intro");
    await isLight(page);
    await tabTo(page, "button.main");
    await page.keyboard.press("Enter");
    for (let number = 1; number <= 11; number += 1) {
      await page.getByRole("heading", { name: `Question ${number}`, exact: true }).waitFor();
      await tabTo(page, "input[type=radio]");
      // The right choice may be the first or the second.
      await page.keyboard.press("Space");
      if (!(await page.locator(`input[value=${RIGHT}]`).isChecked())) await page.keyboard.press("ArrowDown");
      assert.ok(await page.locator(`input[value=${RIGHT}]`).isChecked());
      if (number === 1) await look(page, "question");
      if (number === 4) {
        // The server falls over with the answer on its way, and starts again.
        await server.kill();
        await tabTo(page, "button.main");
        await page.keyboard.press("Enter");
        await page.getByText("saved on this device").waitFor();
        await server.run();
      } else {
        // Once, the page is loaded again before the answer has left it.
        const isReloaded = number === 6;
        if (isReloaded) await page.route("**/answers", (route) => route.abort());
        await tabTo(page, "button.main");
        await page.keyboard.press("Enter");
        if (isReloaded) {
          await page.getByText("saved on this device").waitFor();
          await page.unroute("**/answers");
          await page.reload();
          continue;
        }
      }
      await page.getByText("Correct!").waitFor();
      if (number === 1) await look(page, "feedback");
      await tabTo(page, "button.main");
      await page.keyboard.press("Enter");
    }
    await page.getByRole("heading", { name: "Well done!" }).waitFor();
    await look(page, "finished");
    assert.equal((await answered(server, "practice")).length, 11, "nothing is lost and nothing counts twice");
    assert.match(await page.textContent("main"), /You earned 12.5 XP/);
  });

  await t.test("answers of a quiz wait while the network is down", async () => {
    await page.goto("/learn/lessons/quiz");
    await page.getByRole("button", { name: "Start" }).click();
    await page.getByRole("heading", { name: "Question 1 of 3" }).waitFor();
    await context.setOffline(true);
    for (let number = 1; number <= 3; number += 1) {
      await page.getByRole("heading", { name: `Question ${number} of 3` }).waitFor();
      await page.locator(`input[value=${number === 3 ? "other" : RIGHT}]`).check();
      await page.locator("button.main").click();
    }
    await page.getByRole("heading", { name: "Your answers" }).waitFor();
    await page.getByText("3 answers are saved on this device").waitFor();
    const stored = await page.evaluate(() => JSON.stringify(localStorage));
    assert.match(stored, /lyceum-waiting:/);
    assert.ok(!stored.includes(RIGHT) && !stored.includes("RESPONSE"), "what waits is sealed");
    assert.deepEqual(await answered(server, "quiz"), []);
    await context.setOffline(false);
    await until("the arrival of three answers", async () => (await answered(server, "quiz")).length === 3);
    await look(page, "review");
    await page.getByRole("button", { name: "Finish" }).click();
    await page.getByText("2 of 3 answers correct").waitFor();
    assert.equal((await answered(server, "quiz")).length, 3);
    await page.getByRole("button", { name: "See my answers" }).click();
    await page.getByText("Not right this time.").waitFor();
    assert.equal(await page.evaluate(() => Object.keys(localStorage).filter((name) => name.startsWith("lyceum-waiting:")).length), 0);
    await page.getByRole("link", { name: "Back to my lessons" }).click();
  });

  await t.test("a quiz that is tried again begins with its first question", async () => {
    await page.goto("/learn/lessons/quiz");
    await page.getByRole("button", { name: "Try again" }).click();
    for (let number = 1; number <= 3; number += 1) {
      await page.getByRole("heading", { name: `Question ${number} of 3` }).waitFor();
      await page.locator("input[value=other]").check();
      await page.locator("button.main").click();
    }
    await page.getByRole("button", { name: "Finish" }).click();
    await page.getByText("0 of 3 answers correct").waitFor();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "Question 1 of 3" }).waitFor();
    await page.getByRole("button", { name: "Check my answers" }).click();
    await page.getByText("3 questions have no answer yet.").waitFor();
  });

  await t.test("an answer of 200 KB waits, and with a full storage too", async () => {
    const text = "even ".repeat(40_000);
    await page.goto("/learn/lessons/writing");
    await page.getByRole("button", { name: "Start" }).click();
    await page.locator("textarea").fill(text);
    await context.setOffline(true);
    await page.getByRole("button", { name: "Check my answers" }).click();
    await page.getByText("1 answer is saved on this device").waitFor();
    const names = () => page.evaluate(() => Object.keys(localStorage).filter((name) => name.startsWith("lyceum-waiting:")).length);
    assert.equal(await names(), 1);
    await page.evaluate(() => {
      Storage.prototype.setItem = () => {
        throw new DOMException("full", "QuotaExceededError");
      };
    });
    await page.getByRole("button", { name: "Question 1" }).click();
    await page.locator("textarea").fill(`${text}end`);
    await page.getByRole("button", { name: "Check my answers" }).click();
    await page.getByText("2 answers wait on this page").waitFor();
    assert.equal(await names(), 0);
    await context.setOffline(false);
    await until("the arrival of both answers", async () => (await answered(server, "writing")).length === 2);
    await page.getByText("wait on this page").waitFor({ state: "detached" });
  });

  await t.test("one answer in two tabs counts once", async () => {
    await page.goto("/learn/lessons/practice");
    await page.getByRole("button", { name: "Try again" }).dblclick();
    await page.getByRole("heading", { name: "Question 1", exact: true }).waitFor();
    const other = await context.newPage();
    await other.goto("/learn/lessons/practice");
    await other.getByRole("heading", { name: "Question 1", exact: true }).waitFor();
    // Without an answer, the page asks for one and sends nothing.
    await page.getByRole("button", { name: "Check" }).click();
    await page.getByText("Answer the question first.").first().waitFor();
    assert.equal((await answered(server, "practice")).length, 0);
    for (const tab of [page, other]) {
      await tab.locator(`input[value=${RIGHT}]`).check();
      await tab.getByRole("button", { name: "Check" }).dblclick();
      await tab.getByText("Correct!").waitFor();
    }
    assert.equal((await answered(server, "practice")).length, 1);
    await other.close();
  });

  await t.test("a film is loaded only after a click, and is done when the student says so", async () => {
    await page.goto("/learn/lessons/film");
    await page.getByRole("button", { name: "Watch the video" }).waitFor();
    assert.equal(page.frames().length, 1);
    await page.getByRole("button", { name: "Watch the video" }).click();
    const frame = page.locator("iframe");
    await frame.waitFor();
    assert.equal(await frame.getAttribute("referrerpolicy"), "no-referrer");
    assert.doesNotMatch(await frame.getAttribute("sandbox"), /allow-same-origin|allow-top/);
    await page.getByRole("button", { name: "I am done" }).click();
    await page.getByText("You have done this.").waitFor();
    await page.goto("/learn");
    assert.match(await page.locator("li", { hasText: "A film about numbers" }).textContent(), /done/);
  });

  await t.test("lessons of every kind, and problems, are shown in the student's frame", async () => {
    const address = `${server.base}/docs`;
    for (const [at, type] of ["test-out", "placement", "unit-test"].entries()) await questions(type, `A ${type}`, 10 + at, type, ["q0", "q1"]);
    for (const [at, type] of ["text", "audio", "visual", "interactive"].entries()) await lesson(type, `A lesson of ${type}`, 20 + at, null, { metadata: { type, url: address } });
    const tool = { type: "qti", toolProvider: "Elsewhere", launchUrl: address, lessonType: "quiz" };
    await lesson("outside", "A test elsewhere", 30, "quiz", { metadata: tool });
    for (const id of ["test-out", "placement", "unit-test", "text", "audio", "visual", "interactive", "outside", "film", "writing"]) {
      await page.goto(`/learn/lessons/${id}`);
      await page.locator("[data-stage] :is(button, a)").first().waitFor();
      await look(page, `kind-${id}`);
    }
    for (const [path, status] of [["/learn/nowhere", 404], ["/learn/lessons/nothing", 404], ["/console", 403], ["/learn/lessons/%FF", 400]]) {
      assert.equal((await page.goto(path)).status(), status, path);
      assert.equal(await page.getByRole("link", { name: "Go to my lessons" }).getAttribute("href"), "/learn", path);
      assert.equal(await page.locator("header .me").count(), 1, path);
      await look(page, `problem-${status}`);
    }
  });

  await t.test("signing out with answers that wait leaves nothing", async () => {
    await page.goto("/learn/lessons/practice");
    await page.getByRole("button", { name: "Next question" }).or(page.getByRole("heading", { name: /^Question \d+$/ })).first().waitFor();
    await page.locator(`input[value=${RIGHT}]`).check();
    await page.route("**/api/learn/**/answers", (route) => route.abort());
    await page.getByRole("button", { name: "Check" }).click();
    await page.getByText("saved on this device").waitFor();
    assert.ok((await page.evaluate(() => localStorage.length)) > 0);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL("**/sign-in*");
    assert.equal(await page.evaluate(() => Object.keys(localStorage).filter((name) => name.startsWith("lyceum-waiting:")).length), 0);
    await page.unroute("**/api/learn/**/answers");
    await signIn(page, server, "bob");
    assert.match(await page.textContent("main"), /No courses yet/);
    assert.equal((await page.goto("/learn/lessons/practice")).status(), 404);
    assert.equal((await answered(server, "practice")).length, 1);
  });

  assert.ok(received.length > 20);
  assert.ok(!received.some((text) => text.includes("correct-response") || text.includes("correctResponse")));
});
