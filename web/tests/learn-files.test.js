// Lessons whose items have files and drawings, in a real browser: pictures that the server stores, formulas and time limits.
import assert from "node:assert/strict";
import { test } from "node:test";

import { STEP_MAX_MS, launch, takePicture } from "./chromium.js";
import { ITEMS, itemXml } from "./interactions/items.js";
import { Course, signInStudent } from "./course.js";
import { Server, binary, until } from "./server.js";

const skip = binary ? false : "LYCEUM_TEST_BIN names no program";
/** The interactions that students answer on a picture. */
const GRAPHIC = ["hotspot", "graphic-order", "graphic-associate", "graphic-gap-match", "position-object", "select-point"];
const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEklEQVR4nGNk+M8ABAzIFAAjIQMBQ7IzKAAAAABJRU5ErkJggg==", "base64");
const SILENCE = silence();

/** A tenth of a second without a sound, as a WAV file. */
function silence() {
  const samples = 800;
  const file = Buffer.alloc(44 + samples, 128);
  file.write("RIFF", 0);
  file.writeUInt32LE(36 + samples, 4);
  file.write("WAVEfmt ", 8);
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(8000, 24);
  file.writeUInt32LE(8000, 28);
  file.writeUInt16LE(1, 32);
  file.writeUInt16LE(8, 34);
  file.write("data", 36);
  file.writeUInt32LE(samples, 40);
  return file;
}

async function putFile(server, document, path, bytes) {
  const url = `${server.base}${document}/files/${path}`;
  const headers = { authorization: `Bearer ${server.token}`, "content-type": "application/octet-stream" };
  const answer = await fetch(url, { method: "PUT", headers, body: bytes });
  assert.equal(answer.status, 200, await answer.text());
}

/** Stores an item whose pictures are files of their own instead of parts of the document. */
async function withFiles(server, name) {
  const files = [];
  const item = { ...ITEMS[name] };
  item.body = item.body.replace(/data:image\/svg\+xml,([^"]*)/g, (_, text) => {
    const svg = decodeURIComponent(text);
    if (!files.includes(svg)) files.push(svg);
    return `pictures/${files.indexOf(svg)}.svg`;
  });
  assert.ok(files.length > 0, name);
  await server.call("POST", "/assessment-items", { format: "xml", xml: itemXml(name, item), metadata: { humanApproved: true } });
  for (const [at, svg] of files.entries()) await putFile(server, `/assessment-items/${name}`, `pictures/${at}.svg`, svg);
}

const MIXED = itemXml("mixed", {
  correct: "A",
  body: `<p>Half of <math xmlns="http://www.w3.org/1998/Math/MathML"><mfrac><mn>3</mn><mn>4</mn></mfrac><mo>+</mo><msup><mi>x</mi><mn>2</mn></msup></math></p>
  <p><img src="../pictures/dot.png" alt="A green dot"/><img src="https://pictures.example.org/far.png" alt="A far star"/></p>
  <p><svg xmlns="http://www.w3.org/2000/svg" width="60" height="40" viewBox="0 0 60 40">
    <title>A red wheel</title><circle id="wheel" cx="20" cy="20" r="15" style="fill: rgb(200, 30, 30)"/><use href="#wheel" x="20"/></svg></p>
  <audio src="sound.wav"/>
  <qti-choice-interaction response-identifier="RESPONSE" max-choices="1">
    <qti-simple-choice identifier="A">yes</qti-simple-choice><qti-simple-choice identifier="B">no</qti-simple-choice></qti-choice-interaction>`,
});

/** A question that needs two choices. */
const PAIR = {
  cardinality: "multiple",
  correct: ["A", "B"],
  body: `<qti-choice-interaction response-identifier="RESPONSE" min-choices="2" max-choices="2">
    <qti-simple-choice identifier="A">two</qti-simple-choice><qti-simple-choice identifier="B">four</qti-simple-choice></qti-choice-interaction>`,
};

async function begin(t) {
  const server = await Server.start(t);
  const course = await Course.create(server, "amy");
  const browser = await launch(t, ["--autoplay-policy=no-user-gesture-required"]);
  const context = await browser.newContext({ baseURL: server.base, viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
  const page = await context.newPage();
  page.setDefaultTimeout(STEP_MAX_MS);
  const faults = [];
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("request", (request) => /^(data:|blob:)/.test(request.url()) || request.url().startsWith(server.base) || faults.push(`request to ${request.url()}`));
  await signInStudent(page, server, "amy");
  return { server, course, page, faults };
}

/** Whether all pictures of the question are loaded from the lesson's own files. */
async function picturesAreLoaded(page, lesson) {
  await page.waitForFunction(() => [...document.querySelectorAll(".item img")].every((img) => img.complete));
  const seen = await page.locator(".item img").evaluateAll((all) => all.map(({ src, naturalWidth }) => ({ path: new URL(src).pathname, naturalWidth })));
  assert.ok(seen.length > 0);
  for (const { path, naturalWidth } of seen) {
    assert.ok(path.startsWith(`/api/learn/lessons/${lesson}/files/`), path);
    assert.ok(naturalWidth > 0, path);
  }
}

test("lessons with files, drawings and formulas", { skip }, async (t) => {
  const { server, course, page, faults } = await begin(t);

  await t.test("interactions on stored pictures are answered by keyboard", async () => {
    for (const name of GRAPHIC) await withFiles(server, name);
    await course.questions("pictures", "quiz", GRAPHIC);
    await page.goto("/learn/lessons/pictures");
    await page.getByRole("button", { name: "Start" }).click();
    for (const [at, name] of GRAPHIC.entries()) {
      await page.getByRole("heading", { name: `Question ${at + 1} of ${GRAPHIC.length}` }).waitFor();
      await picturesAreLoaded(page, "pictures");
      await ITEMS[name].byKeys(page);
      await takePicture(page, `learn-picture-${name}`);
      await page.locator("button.main").click();
    }
    await page.getByRole("button", { name: "Finish" }).click();
    await page.getByText(`${GRAPHIC.length} of ${GRAPHIC.length} answers correct`).waitFor();
    await page.getByRole("button", { name: "See my answers" }).click();
    const tokens = page.locator(".card.question .qti-token");
    await tokens.first().waitFor();
    assert.deepEqual([...new Set(await tokens.evaluateAll((all) => all.map((one) => getComputedStyle(one).opacity)))], ["1"], "answers stay easy to read");
    assert.deepEqual(faults, []);
  });

  await t.test("formulas, drawings, pictures and sound of an item are shown and named", async () => {
    await server.call("POST", "/assessment-items", { format: "xml", xml: MIXED, metadata: { humanApproved: true } });
    await putFile(server, "/assessment-items/mixed", "pictures/dot.png", PNG);
    await putFile(server, "/assessment-items/mixed", "sound.wav", SILENCE);
    await course.questions("mixed", "quiz", ["mixed"]);
    await page.goto("/learn/lessons/mixed");
    await page.getByRole("button", { name: "Start" }).click();
    await page.getByRole("heading", { name: "Question 1 of 1" }).waitFor();
    await picturesAreLoaded(page, "mixed");
    const session = await page.context().newCDPSession(page);
    const { nodes } = await session.send("Accessibility.getFullAXTree");
    const named = nodes.filter(({ ignored }) => !ignored).map(({ role, name }) => `${role?.value} ${name?.value ?? ""}`);
    for (const node of ["MathMLMath 3 quarters plus x squared", "image A green dot", "image A red wheel"]) {
      assert.ok(named.includes(node), `no ${node} among ${named.join("; ")}`);
    }
    assert.match(await page.locator(".item").textContent(), /A far star/);
    const wheel = await page.locator(".item svg").evaluate((svg) => ({
      width: svg.getBoundingClientRect().width,
      fill: getComputedStyle(svg.querySelector("circle")).fill,
      repeated: svg.querySelector("use").getBoundingClientRect().width,
    }));
    assert.deepEqual([wheel.fill, wheel.width > 50, wheel.repeated > 20], ["rgb(200, 30, 30)", true, true]);
    await until("the sound", () => page.locator(".item audio").evaluate((audio) => audio.duration > 0.05));
    await takePicture(page, "learn-mixed");
    assert.deepEqual(faults, []);
  });
});

test("a lesson with a time limit ends when its time is over", { skip }, async (t) => {
  const { server, course, page, faults } = await begin(t);
  const items = { choice: ITEMS.choice, pair: PAIR };
  const names = Object.keys(items);
  for (const name of names) await server.call("POST", "/assessment-items", { format: "xml", xml: itemXml(name, items[name]), metadata: { humanApproved: true } });
  await course.questions("timed", "quiz", names, { timeLimit: 8 });
  await server.call("POST", "/adaptive/teaching", { student: "amy", action: { type: "extra-time", factor: 1.5 } });
  await page.goto("/learn/lessons/timed");
  await page.getByText("You have 12 seconds. The time begins when you start.").waitFor();
  await takePicture(page, "learn-time-intro");
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByRole("heading", { name: "Question 1 of 2" }).waitFor();
  const shown = page.getByRole("timer");
  assert.match(await shown.textContent(), /^Time left: (12|10) seconds$/);
  // Screen readers hear it from an element of its own, and nothing else changes with it.
  const announced = page.locator(".time-left + [role=status]");
  await until("an announcement", async () => /You have|left/.test(await announced.textContent()));
  await takePicture(page, "learn-time-question");
  await ITEMS.choice.byKeys(page);
  // The student does not press anything: what was chosen counts, and the other question is wrong.
  await page.getByText("1 of 2 answers correct").waitFor();
  assert.equal(await shown.isVisible(), false);
  const { score } = await server.call("GET", "/powerpath/getAssessmentProgress?student=amy&lesson=timed");
  assert.equal(score, 50);

  // The page learns of time that a teacher gives during the test before it hands in.
  const answered = async () => {
    const { log } = await server.call("GET", "/powerpath/getAttemptLog?student=amy&lesson=timed");
    return log.map(({ answered }) => answered).filter(Boolean);
  };
  const extra = (factor) => server.call("POST", "/adaptive/teaching", { student: "amy", action: { type: "extra-time", factor } });
  await extra(1);
  await page.reload();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { name: "Question 1 of 2" }).waitFor();
  await ITEMS.choice.byKeys(page);
  await extra(2);
  await page.getByText(/^Time left: 10 seconds$/).waitFor();
  await page.getByRole("heading", { name: "Question 1 of 2" }).waitFor();
  await until("the answer", async () => (await answered()).length === 1);
  // An answer with too few choices is handed in too.
  await page.getByRole("button", { name: "Next" }).click();
  await page.locator("input[type=checkbox]").first().check();
  await page.getByText("1 of 2 answers correct").waitFor();
  assert.deepEqual((await answered()).map(({ responses }) => responses.RESPONSE), ["M", ["A"]]);

  // The language can be changed on the page of a lesson.
  await page.getByRole("button", { name: "Español" }).click();
  await page.locator("html[lang=es]").waitFor();
  assert.equal(new URL(page.url()).pathname, "/learn/lessons/timed");
  assert.deepEqual(faults, []);
});
