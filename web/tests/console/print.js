// Printed pages, on A4 and Letter: what a person reads, in ink, and heads of tables on each sheet.
import assert from "node:assert/strict";

import { takePicture } from "../chromium.js";

const MARGIN = "14mm";
/** The width between the margins, as CSS pixels. */
const WIDTHS = { A4: Math.round(((210 - 28) / 25.4) * 96), Letter: Math.round((8.5 - 28 / 25.4) * 96) };

/** The number of sheets of a PDF. */
const sheets = (pdf) => pdf.toString("latin1").match(/\/Type\s*\/Page\b(?!s)/g).length;

export default async function print(t, kit) {
  const student = kit.students[0].sourcedId;
  const { page } = await kit.newPage(t);
  await page.context().addCookies(await kit.pages.administrator.page.context().cookies());
  await page.goto("/console/classes?filter=Fractions");
  const classPath = new URL(await page.locator(".list tbody a").first().getAttribute("href"), kit.server.base).pathname;
  await page.goto(`${classPath}/access`);
  await page.getByRole("button", { name: "Give students access with pictures" }).click();
  await page.waitForLoadState();

  const pages = {
    student: `/console/students/${student}?days=14`,
    class: classPath,
    course: "/console/courses?filter=Fractions",
    students: "/console/students",
    today: "/console/today",
    cards: `${classPath}/access/cards`,
  };
  const counts = {};
  for (const [name, path] of Object.entries(pages)) {
    await page.emulateMedia({ media: "screen" });
    assert.equal((await page.goto(path)).status(), 200, path);
    if (name === "course") await page.locator(".list tbody a").first().click();
    for (const [format, width] of Object.entries(WIDTHS)) {
      await page.setViewportSize({ width, height: 1000 });
      await page.emulateMedia({ media: "print", colorScheme: "dark" });
      const seen = await page.evaluate(() => {
        const isShown = (one) => one.checkVisibility() && one.getBoundingClientRect().height > 1;
        const shown = (selector) => [...document.querySelectorAll(selector)].filter(isShown).map((one) => one.outerHTML.slice(0, 80));
        const ink = getComputedStyle(document.body).color;
        const isGrey = (color) => new Set(color.match(/\d+/g).slice(0, 3)).size === 1;
        return {
          clicked: shown("button, .button, form, nav:not(.pages), select, input, dialog, .exports"),
          wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
          blue: [...document.querySelectorAll("main a")].filter(isShown).filter((link) => !isGrey(getComputedStyle(link).color)).map((link) => link.outerHTML.slice(0, 80)),
          heads: [...document.querySelectorAll("main thead:not(.unseen)")].map((head) => getComputedStyle(head).display).filter((display) => display !== "table-header-group"),
          paper: getComputedStyle(document.body).backgroundColor,
          ink,
        };
      });
      assert.deepEqual(seen, { clicked: [], wide: 0, blue: [], heads: [], paper: "rgb(255, 255, 255)", ink: "rgb(0, 0, 0)" }, `${name} on ${format}`);
      if (format === "A4") await takePicture(page, `print-${name}`);
      const pdf = await page.pdf({ format, margin: { top: MARGIN, right: MARGIN, bottom: MARGIN, left: MARGIN } });
      counts[`${name} ${format}`] = sheets(pdf);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  }
  t.diagnostic(`sheets: ${JSON.stringify(counts)}`);
  assert.equal(counts["cards A4"], 1, "the cards of a class are one sheet");
  assert.equal(counts["cards Letter"], 1);
  assert.ok(counts["students A4"] > 1, "a list of fifty students needs more than one sheet");
}
