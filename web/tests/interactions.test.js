// Items in a real browser: each interaction answered by keys and by pointer on the preview page, scored by the server,
// named for screen readers, and shown again.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { STEP_MAX_MS, launch, takePicture } from "./chromium.js";
import { axe, signIn, tabTo } from "./console/kit.js";
import { ITEMS, READING, itemXml } from "./interactions/items.js";
import { Server, binary } from "./server.js";

/** These tests drive the program; `LYCEUM_TEST_BIN` names it. */
const skip = binary ? false : "LYCEUM_TEST_BIN names no program";
const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 390, height: 844 };
/** Pages that work at the same time. */
const WORKERS = 3;
const isFull = process.env.LYCEUM_TEST_SIZE === "full";
/** At the small size, one of so many items of the standard is shown. */
const SAMPLED = isFull ? 1 : 6;
const STANDARDS = join(process.env.LYCEUM_STANDARDS ?? fileURLToPath(new URL("../../../shared/standards", import.meta.url)), "qti");

/** A server, and pages of a guide who is signed in. */
async function begin(t) {
  const server = await Server.start(t);
  const browser = await launch(t, ["--autoplay-policy=no-user-gesture-required"]);
  const context = await browser.newContext({ baseURL: server.base, viewport: WIDE, reducedMotion: "reduce" });
  await signIn(await context.newPage(), server, "guide");
  const storageState = await context.storageState();
  const open = async () => {
    const own = await browser.newContext({ baseURL: server.base, viewport: WIDE, reducedMotion: "reduce", hasTouch: true, storageState });
    const page = await own.newPage();
    page.setDefaultTimeout(STEP_MAX_MS);
    const faults = [];
    page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
    page.on("pageerror", (error) => faults.push(String(error)));
    page.on("request", (request) => /^(data:|blob:)/.test(request.url()) || request.url().startsWith(server.base) || faults.push(`request to ${request.url()}`));
    return { page, faults };
  };
  return { server, open };
}

/** Does the work for each member, on some pages at the same time. */
async function eachOnPages(open, members, work) {
  const left = [...members];
  await Promise.all(
    Array.from({ length: WORKERS }, async () => {
      const own = await open();
      for (let next = left.shift(); next; next = left.shift()) await work(own, next);
    }),
  );
}

/** The elements that a screen reader finds on a page: role, name and states of each element that is not hidden. */
async function accessible(page) {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  await session.detach();
  return nodes
    .filter(({ ignored }) => !ignored)
    .map(({ role, name, value, properties = [] }) => {
      const states = Object.fromEntries(properties.map(({ name, value }) => [name, String(value.value)]));
      return { role: role?.value, name: name?.value ?? "", value: value === undefined ? undefined : String(value.value), ...states };
    });
}

const LIGHT = { colorScheme: "light", viewport: WIDE };
const DARK = { colorScheme: "dark", viewport: NARROW };

/** Everybody can read the page, and nothing is cut off, in this theme and size. */
async function isAccessible(page, name, { colorScheme, viewport }) {
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize(viewport);
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  const seen = await page.evaluate(async () => {
    // Tests of the console look at the frame.
    const { violations } = await window.axe.run("main", { resultTypes: ["violations"] });
    const root = document.documentElement;
    return {
      faults: violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 2).map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(" | ")}`),
      wide: root.scrollWidth - root.clientWidth,
    };
  });
  assert.deepEqual(seen, { faults: [], wide: 0 }, `${name}, ${colorScheme}`);
  await takePicture(page, `item-${name}-${viewport.width}-${colorScheme}`);
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(WIDE);
}

const result = (page) => page.locator("[data-result]:not([hidden])");

/** The responses that the page sent, and the answer of the server. */
const details = async (page) => JSON.parse(await page.locator("[data-details]").textContent());

/** Answers an item on an open page and compares the server's score. */
async function answer(kit, page, name, way) {
  const { correct } = ITEMS[name];
  await ITEMS[name][way](page);
  if (way === "byKeys") {
    await tabTo(page, "form .main");
    await page.keyboard.press("Enter");
  } else {
    await page.locator("form .main").click();
  }
  await result(page).waitFor();
  const { responses, score } = await details(page);
  const scored = await kit.server.call("POST", `/assessment-items/${name}/process-response`, { responses });
  assert.equal(score, scored.score, name);
  if (!correct) {
    assert.ok(responses.RESPONSE.data.length > 10, `${name}: ${JSON.stringify(responses)}`);
    return;
  }
  const plain = (response) => [response].flat().map((value) => ITEMS[name].reversed?.[value] ?? String(value));
  const [sent, expected] = [plain(responses.RESPONSE), plain(correct)];
  if (ITEMS[name].cardinality === "multiple") [sent, expected].forEach((list) => list.sort());
  assert.deepEqual(sent, expected, `${name} ${way}`);
  assert.equal(scored.score, 1, `${name} ${way}`);
  assert.match(await result(page).textContent(), /Right: 1 of 1/, name);
}

test("items in a browser", { skip, concurrency: WORKERS }, async (t) => {
  const kit = await begin(t);
  await t.test("each interaction is answered, scored and shown again", { concurrency: WORKERS }, (t) => answerItems(t, kit));
  await t.test("help, formulas, limits and reading aloud", () => readItem(kit));
  await t.test("reading aloud in the language of the item, otherwise of the page", () => readInLanguages(kit));
  await t.test("texts are sent without spaces around them, numbers in the signs of the page's language", () => sendTyped(kit));
  await t.test("items of the standard are shown without errors", (t) => showExamples(t, kit));
});

async function answerItems(t, kit) {
  for (const [name, item] of Object.entries(ITEMS)) {
    await kit.server.call("POST", "/assessment-items", { format: "xml", xml: itemXml(name, item) });
  }
  await eachOnPages(kit.open, Object.keys(ITEMS), async ({ page, faults }, name) => {
    const { named, state } = ITEMS[name];
    await t.test(name, async () => {
      await page.goto(`/console/items/${name}/preview`);
      const before = await accessible(page);
      for (const [role, names] of Object.entries(named)) {
        for (const wanted of names) {
          const found = before.filter((node) => node.role === role).map((node) => node.name);
          assert.ok(found.includes(wanted), `${name}: no ${role} '${wanted}' among ${JSON.stringify(found)}`);
        }
      }
      await isAccessible(page, name, LIGHT);
      await answer(kit, page, name, "byKeys");
      // The page shows the item anew and restores the answer.
      if (state) {
        const after = await accessible(page);
        const found = after.filter((node) => node.role === state.role && node.name === state.name);
        const wanted = Object.entries(state);
        assert.ok(found.some((node) => wanted.every(([key, value]) => node[key] === value)), `${name}: ${JSON.stringify(state)} is not among ${JSON.stringify(found)}`);
      }
      await isAccessible(page, `${name}-answered`, DARK);
      for (const way of ["byPointer", "byTaps"].filter((way) => ITEMS[name][way])) {
        await page.locator("[data-again]").click();
        await page.waitForFunction(() => !document.querySelector("form .main").hidden);
        await answer(kit, page, name, way);
      }
      assert.deepEqual(faults.splice(0), [], name);
    });
  });
}

/** Collects what a page speaks. Test machines have no voices. */
async function listen(page) {
  await page.addInitScript(() => {
    window.spoken = [];
    window.languages = [];
    const speak = (utterance) => {
      window.spoken.push(utterance.text);
      window.languages.push(utterance.lang);
      setTimeout(() => utterance.dispatchEvent(new Event("end")));
    };
    Object.defineProperty(window, "speechSynthesis", { value: { speak, cancel() {} } });
  });
}

async function readInLanguages({ server, open }) {
  const formula = `<math xmlns="http://www.w3.org/1998/Math/MathML"><mfrac><mn>3</mn><mn>4</mn></mfrac><mo>+</mo><msup><mi>x</mi><mn>2</mn></msup></math>`;
  const body = `<p>${formula} = <qti-text-entry-interaction response-identifier="RESPONSE"/></p>`;
  const english = itemXml("spoken-en", { baseType: "string", body });
  const items = {
    "spoken-en": english,
    "spoken-es": english.replaceAll("spoken-en", "spoken-es").replace('xml:lang="en"', 'xml:lang="es-MX"'),
    "spoken-none": english.replaceAll("spoken-en", "spoken-none").replace('xml:lang="en"', ""),
  };
  for (const xml of Object.values(items)) await server.call("POST", "/assessment-items", { format: "xml", xml });
  const inEnglish = "3 quarters plus x squared = blank";
  const inSpanish = "3 cuartos más x al cuadrado = espacio en blanco";
  const { page, faults } = await open();
  await listen(page);
  for (const [language, item, text, spokenIn] of [
    ["en", "spoken-en", inEnglish, "en"],
    ["en", "spoken-es", inSpanish, "es-MX"],
    ["en", "spoken-none", inEnglish, "en"],
    ["es", "spoken-en", inEnglish, "en"],
    ["es", "spoken-none", inSpanish, "es"],
  ]) {
    await page.setExtraHTTPHeaders({ "accept-language": language });
    await page.goto(`/console/items/${item}/preview`);
    await page.getByRole("button", { name: language === "es" ? "Leer en voz alta" : "Read aloud" }).click();
    await page.waitForFunction(() => window.spoken.length > 0);
    assert.deepEqual(await page.evaluate(() => [window.spoken[0], window.languages[0]]), [text, spokenIn], `${item} on a page in ${language}`);
    assert.equal(await page.locator("math").getAttribute("aria-label"), text.split(" = ")[0]);
  }
  assert.deepEqual(faults, []);
}

async function sendTyped({ server, open }) {
  for (const baseType of ["string", "float"]) {
    const body = `<p><qti-text-entry-interaction response-identifier="RESPONSE"/></p>`;
    await server.call("POST", "/assessment-items", { format: "xml", xml: itemXml(`typed-${baseType}`, { baseType, body }) });
  }
  const { page, faults } = await open();
  for (const [language, baseType, typed, sent] of [
    ["en", "string", " Paris ", "Paris"],
    ["en", "float", "1,000", "1000"],
    ["en", "float", "12,345.5", "12345.5"],
    ["en", "float", "0,5", "0.5"],
    ["es", "float", "1.000", "1000"],
    ["es", "float", "12.345,5", "12345.5"],
    ["es", "float", "1,000", "1.000"],
    ["es", "float", "3.5", "3.5"],
    ["es", "float", "12 345", "12345"],
    ["es", "float", "1,000.5", null],
  ]) {
    await page.setExtraHTTPHeaders({ "accept-language": language });
    await page.goto(`/console/items/typed-${baseType}/preview`);
    await page.fill("input[type=text]", typed);
    await page.locator("form .main").click();
    if (sent === null) {
      await page.locator("qti-text-entry-interaction .qti-message").waitFor();
    } else {
      await result(page).waitFor();
      assert.equal((await details(page)).responses.RESPONSE, sent, `'${typed}' on a page in ${language}`);
    }
  }
  assert.deepEqual(faults, []);
}

async function readItem({ server, open }) {
  await server.call("POST", "/assessment-items", { format: "xml", xml: READING });
  const { page, faults } = await open();
  await listen(page);
  await page.goto("/console/items/reading/preview");
  const nodes = (await accessible(page)).map(({ role, name }) => `${role} ${name}`);
  for (const node of ["MathMLMath 3 quarters plus x squared", "link Open the picture"]) assert.ok(nodes.includes(node), `no ${node} among ${nodes.join("; ")}`);
  assert.match(await page.locator("qti-end-attempt-interaction").textContent(), /cannot be shown here yet/);
  await isAccessible(page, "reading", DARK);

  // A term opens its help by keyboard, and Escape closes it.
  await tabTo(page, ".qti-term");
  await page.keyboard.press("Enter");
  const help = page.locator(".qti-help:popover-open");
  await help.waitFor();
  assert.equal(await help.getAttribute("aria-label"), "Help: fraction");
  assert.match(await help.textContent(), /Meaning\s*A part of a whole\s*Translation\s*Deutsch\s*Bruch/);
  await takePicture(page, "item-reading-help");
  await page.keyboard.press("Escape");
  await help.waitFor({ state: "hidden" });

  // The catalog's text is spoken in place of the visible one; the picture is described.
  await page.getByRole("button", { name: "Read aloud" }).click();
  await page.waitForFunction(() => window.spoken.includes("three"));
  const spoken = await page.evaluate(() => window.spoken);
  assert.deepEqual(spoken.slice(0, 2), ["A fraction is three quarters and so on.", "A cake in four parts Open the picture"]);

  // Limits are announced and shown where they are broken.
  for (const name of ["one", "two", "three"]) await page.getByRole("checkbox", { name }).press("Space");
  assert.equal(await page.locator(".qti-announcer").textContent(), "Only two.");
  assert.equal(await page.getByRole("checkbox", { name: "three" }).isChecked(), false);
  await takePicture(page, "item-reading-limit");
  await page.getByRole("textbox").fill("7");
  await page.locator("form .main").click();
  await result(page).waitFor();
  assert.match(await result(page).textContent(), /Write two digits\./);
  await page.getByRole("textbox").fill("77");
  await page.locator("form .main").click();
  await page.waitForFunction(() => document.querySelector("[data-details]").textContent !== "");
  assert.deepEqual((await details(page)).responses, { CODE: "77", MANY: ["A", "B"] });

  // The size of the text stays on the next page.
  const size = () => page.locator(".qti-item").first().evaluate((item) => Number.parseFloat(getComputedStyle(item).fontSize));
  const normal = await size();
  await page.getByRole("combobox", { name: "Text size" }).selectOption({ label: "Very large text" });
  await page.getByRole("combobox", { name: "Contrast" }).selectOption({ label: "High contrast" });
  await page.reload();
  assert.ok((await size()) > normal * 1.4);
  await isAccessible(page, "reading-large", DARK);
  await isAccessible(page, "reading-large", LIGHT);
  assert.deepEqual(faults, []);
}

/** The items of the standard's examples. */
function examples(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".xml"))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .filter((path) => !path.includes("xsd"))
    .map((path) => ({ path, xml: readFileSync(path, "utf8") }))
    .filter(({ xml }) => xml.includes("<qti-assessment-item ") || xml.includes("<qti-assessment-item\n"));
}

async function showExamples(t, kit) {
  if (!existsSync(STANDARDS)) {
    assert.notEqual(process.env.LYCEUM_REQUIRE_STANDARDS, "1", `no files of the standard in ${STANDARDS}`);
    t.skip("without the files of the standard, 0 items are shown");
    return;
  }
  const all = examples(STANDARDS).filter((_, at) => at % SAMPLED === 0);
  let shown = 0;
  await eachOnPages(kit.open, all.entries(), async ({ page, faults }, [number, { path, xml }]) => {
    const id = `example-${number}`;
    const named = xml.replace(/(<qti-assessment-item[^>]*?\sidentifier=)(["'])[^"']*\2/, `$1"${id}"`);
    // Other tests cover which items are refused.
    try {
      await kit.server.call("POST", "/assessment-items", { format: "xml", xml: named });
    } catch (refused) {
      assert.match(refused.message, /: (400|422) /);
      return;
    }
    await page.goto(`/console/items/${id}/preview`);
    await page.waitForFunction(() => document.querySelector("[data-reading] select"));
    assert.deepEqual(faults.splice(0), [], path);
    shown += 1;
  });
  t.diagnostic(`${shown} of ${all.length} items are shown`);
  assert.ok(shown > all.length / 2, `only ${shown} of ${all.length}`);
}
