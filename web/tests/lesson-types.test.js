// Each type of lesson in a real browser, from its start to its result. The tests of students work through a practice, a quiz
// and a film.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { STEP_MAX_MS, launch, takePicture } from "./chromium.js";
import { Course, signInStudent } from "./course.js";
import { ITEMS, itemXml } from "./interactions/items.js";
import { Server, binary, folder } from "./server.js";

const skip = binary ? false : "LYCEUM_TEST_BIN names no program";
const SLUG = "tides";
const PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Tides</title><link rel="icon" href="data:,"><h1>Tides</h1></html>`;

const TEXT = `<qti-assessment-stimulus xmlns="http://www.imsglobal.org/xsd/imsqtiasi_v3p0" identifier="text" title="Whales">
  <qti-stimulus-body><p>Whales sing for hours.</p></qti-stimulus-body></qti-assessment-stimulus>`;
const ABOUT_TEXT = ITEMS.choice;

/** Deploys an app that is one page. */
function deploy(server) {
  const app = folder();
  mkdirSync(join(app, "dist"), { recursive: true });
  writeFileSync(join(app, "dist/index.html"), PAGE);
  writeFileSync(join(app, "lyceum.config.json"), JSON.stringify({ name: "Tides", buildPath: "dist" }));
  const key = server.lyceum("admin", "key", "create", "deploys", "--role", "developer", "--env", "staging").trim();
  const env = { PATH: process.env.PATH, XDG_CONFIG_HOME: app, XDG_STATE_HOME: app, LYCEUM_URL: server.base, LYCEUM_API_KEY: key };
  execFileSync(binary, ["deploy", "--env", "staging", "--yes", "--json"], { cwd: app, env });
}

test("each type of lesson, from its start to its result", { skip }, async (t) => {
  const server = await Server.start(t, (server) => {
    server.env = { LYCEUM_SERVER__ENV: "staging" };
  });
  const course = await Course.create(server, "amy");
  const browser = await launch(t);
  const context = await browser.newContext({ baseURL: server.base, viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
  const page = await context.newPage();
  page.setDefaultTimeout(STEP_MAX_MS);
  const faults = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  await signInStudent(page, server, "amy");
  const names = ["choice", "hotspot"];
  for (const name of names) await server.call("POST", "/assessment-items", { format: "xml", xml: itemXml(name, ITEMS[name]), metadata: { humanApproved: true } });
  const home = async (title) => {
    await page.goto("/learn");
    return page.locator("li", { hasText: title }).textContent();
  };

  await server.call("POST", "/stimuli", { format: "xml", xml: TEXT });
  const reference = '<qti-assessment-stimulus-ref identifier="text" href="text.xml"/>';
  const xml = itemXml("about-text", ABOUT_TEXT).replace("<qti-item-body>", `${reference}<qti-item-body>`);
  await server.call("POST", "/assessment-items", { format: "xml", xml, metadata: { humanApproved: true } });

  await t.test("a reading lesson", async () => {
    await course.questions("reading", "alpha-read-article", ["about-text"]);
    await page.goto("/learn/lessons/reading");
    await page.getByRole("button", { name: "Start" }).click();
    await page.getByRole("region", { name: "Text to read" }).getByText("Whales sing").waitFor();
    await ITEMS.choice.byKeys(page);
    await takePicture(page, "learn-type-reading");
    await page.locator("button.main").click();
    await page.getByRole("button", { name: "Finish" }).click();
    await page.getByText("1 of 1 answer correct. Your score is 100 of 100.").waitFor();
    assert.match(await home("Lesson reading"), /done/);
  });

  for (const type of ["quiz", "unit-test", "placement", "test-out"]) {
    await t.test(type, async () => {
      await course.questions(`of-${type}`, type, names);
      await page.goto(`/learn/lessons/of-${type}`);
      await page.getByRole("button", { name: "Start" }).click();
      for (const [at, name] of names.entries()) {
        await page.getByRole("heading", { name: `Question ${at + 1} of 2` }).waitFor();
        await ITEMS[name].byKeys(page);
        await page.locator("button.main").click();
      }
      await page.getByRole("button", { name: "Finish" }).click();
      await page.getByText("2 of 2 answers correct. Your score is 100 of 100.").waitFor();
      await takePicture(page, `learn-type-${type}`);
      assert.equal(await page.getByRole("button", { name: "Try again" }).count(), type === "test-out" ? 0 : 1);
      await page.getByRole("button", { name: "See my answers" }).click();
      await page.getByText("Correct!").nth(1).waitFor();
      const { attempts } = await server.call("GET", `/adaptive/getAttempts?student=amy&lesson=of-${type}`);
      assert.deepEqual(attempts.map(({ score, scoreStatus }) => [score, scoreStatus]), [[100, "fully graded"]]);
      assert.match(await home(`Lesson of-${type}`), /done/);
    });
  }

  for (const [type, open] of [["text", "Read the text"], ["audio", "Listen"], ["video", "Watch the video"]]) {
    await t.test(`material: ${type}`, async () => {
      await course.lesson(type, null, { metadata: { type, url: `${server.base}/docs` } });
      await page.goto(`/learn/lessons/${type}`);
      await page.getByRole("button", { name: open }).waitFor();
      assert.equal(page.frames().length, 1, "nothing is loaded before the click");
      await page.getByRole("button", { name: open }).click();
      await page.locator("iframe").waitFor();
      await takePicture(page, `learn-type-${type}`);
      await page.getByRole("button", { name: "I am done" }).click();
      await page.getByText("You have done this.").waitFor();
      assert.match(await home(`Lesson ${type}`), /done/);
    });
  }

  await t.test("a test with an outside tool", async () => {
    const metadata = { type: "qti", toolProvider: "mastery-track", launchUrl: `${server.base}/docs`, xp: 5, subject: "Math", grades: ["3"] };
    await course.lesson("outside", "unit-test", { metadata });
    await server.call("POST", "/adaptive/makeExternalTestAssignment", { student: "amy", lesson: "outside" });
    await page.goto("/learn/lessons/outside");
    const link = page.getByRole("link", { name: "Open the test" });
    assert.deepEqual([await link.getAttribute("target"), await link.getAttribute("rel")], ["_blank", "noopener noreferrer"]);
    const [tool] = await Promise.all([context.waitForEvent("page"), link.click()]);
    await tool.waitForURL(`${server.base}/docs*`);
    assert.equal(await tool.evaluate(() => document.referrer), "");
    await tool.close();
    const result = { status: "active", score: 90, scoreDate: "2026-02-01", scoreStatus: "fully graded", metadata: { attempt: 1, correctQuestions: 9, totalQuestions: 10 } };
    await server.call("POST", "/adaptive/lessonPlans/updateStudentItemResponse", { studentId: "amy", componentResourceId: "outside", result });
    await server.call("GET", "/adaptive/importExternalTestAssignmentResults?student=amy&lesson=outside");
    await page.reload();
    await page.getByText("Your score is 90 of 100.").waitFor();
    await takePicture(page, "learn-type-outside");
    assert.match(await home("Lesson outside"), /done/);
  });

  await t.test("an app", async () => {
    deploy(server);
    await course.lesson("app", null, { applicationId: SLUG, metadata: { type: "interactive" } });
    await page.goto("/learn/lessons/app");
    await page.getByRole("link", { name: "Open the app" }).click();
    await page.waitForURL(`**/play/${SLUG}`);
    await page.frameLocator("iframe").getByRole("heading", { name: "Tides" }).waitFor();
    await page.goto("/learn/lessons/app");
    await page.getByRole("button", { name: "I am done" }).click();
    await page.getByText("You have done this.").waitFor();
    assert.match(await home("Lesson app"), /done/);
  });

  assert.deepEqual(faults, []);
});
