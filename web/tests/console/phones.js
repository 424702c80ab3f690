// Small screens: rows of two lines, folded filters. What fingers hit is measured at each look (kit.js).
import assert from "node:assert/strict";

/** Every list screen, each with a row at least. */
const LISTS = ["students", "classes", "courses", "badges", "events", "imports", "keys", "keys/clients", "webhooks", "accounts", "system/jobs", "system/audit"];

export default async function phones(t, kit) {
  const { page } = await kit.newPage(t, { viewport: { width: 390, height: 844 } });
  await page.context().addCookies(await kit.pages.administrator.page.context().cookies());

  await page.goto("/console/students");
  const school = page.locator("select[name=school]");
  await school.waitFor({ state: "hidden" });
  assert.equal(await page.textContent(".fold summary"), "Filters and order");
  await page.locator(".fold summary").click();
  const options = await school.locator("option").allTextContents();
  await school.selectOption(options[1]);
  await page.waitForURL(/school=/);
  await school.waitFor({ state: "hidden" });
  assert.match(await page.textContent(".fold summary"), /1 active/);
  // By keyboard, and with the order as a second one.
  await page.locator(".fold summary").focus();
  await page.keyboard.press("Enter");
  await page.locator("select[name=sort]").selectOption("-name");
  await page.getByRole("button", { name: "Show" }).click();
  await page.waitForURL(/sort=-name/);
  assert.match(await page.textContent(".fold summary"), /2 active/);

  for (const list of LISTS) {
    await page.goto(`/console/${list}`);
    const seen = await page.evaluate(() => {
      const box = (cell) => cell.getBoundingClientRect();
      const rows = [...document.querySelectorAll(".list tbody tr")].slice(0, 5);
      return {
        wide: document.documentElement.scrollWidth - innerWidth,
        rows: rows.map((row) => {
          const [name, ...facts] = [...row.cells].filter((cell) => box(cell).height > 0);
          const beside = facts.filter((cell) => box(cell).top < box(name).bottom - 4);
          return { beside: beside.length, isNameFirst: facts.every((cell) => box(cell).bottom > box(name).top + 4), right: Math.max(...[...row.cells].map((cell) => box(cell).right)) };
        }),
      };
    });
    assert.equal(seen.wide, 0, list);
    for (const row of seen.rows) {
      assert.ok(row.beside <= 1 && row.isNameFirst, `${list}: a name and at most one fact are in the first line: ${JSON.stringify(row)}`);
      assert.ok(row.right <= 390, `${list}: ${row.right} px`);
    }
  }
}
