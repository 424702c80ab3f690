// The search: Ctrl-K, arrow keys, Enter and Escape, one request at a time; and its page without scripts.
import assert from "node:assert/strict";

const chosen = (page) => page.locator("#find [aria-selected=true]");

export default async function search(t, kit) {
  const { sourcedId, givenName, familyName } = kit.students[0];
  const page = await kit.open("/console/courses", "guide");
  const asked = [];
  let open = 0;
  let most = 0;
  page.on("request", (request) => {
    if (!request.url().includes("/console/search?")) return;
    asked.push(new URL(request.url()).searchParams.get("q"));
    most = Math.max(most, (open += 1));
  });
  const ends = (request) => request.url().includes("/console/search?") && (open -= 1);
  page.on("requestfinished", ends);
  page.on("requestfailed", ends);

  // All screens of the role are there before anything is typed.
  await page.keyboard.press("Control+k");
  const field = page.getByRole("combobox", { name: "Search" });
  await field.and(page.locator(":focus")).waitFor();
  await page.getByRole("option", { name: "Students" }).waitFor();
  assert.equal(await page.getByRole("option", { name: "System" }).count(), 0);

  // Results arrive while the person types, from one request at a time.
  await field.pressSequentially(`${givenName} ${familyName}`, { delay: 20 });
  await page.getByRole("group", { name: "Students" }).getByRole("option").first().waitFor();
  await page.waitForFunction(() => document.querySelector("#find [role=status]").textContent.includes("result"));
  assert.equal(most, 1, `${asked} were asked`);
  assert.ok(asked.length < `${givenName} ${familyName}`.length, `${asked.length} requests for one name`);

  // The list belongs to the field, for screen readers too.
  const id = await field.getAttribute("aria-activedescendant");
  assert.equal(await chosen(page).getAttribute("id"), id);
  assert.equal(await field.getAttribute("aria-controls"), await page.locator("#find [role=listbox]").getAttribute("id"));
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  assert.equal(await chosen(page).getAttribute("id"), id, "down and up lead back");
  await kit.lookHere("search-dialog", page);
  await field.focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/console/students/${sourcedId}`);

  // Escape closes it and gives the focus back; the link in the navigation opens it.
  await page.locator(".find-field").focus();
  await page.keyboard.press("Enter");
  await field.waitFor();
  await page.keyboard.press("Escape");
  await field.waitFor({ state: "hidden" });
  assert.ok(await page.locator(".find-field").evaluate((link) => link === document.activeElement));

  // Enter while a request is running leads to the page of the search, not to a result of the text before.
  await page.keyboard.press("Control+k");
  await field.fill(familyName);
  await page.getByRole("group", { name: "Students" }).getByRole("option").first().waitFor();
  let answer;
  const isRunning = new Promise((resolve) => {
    page.route("**/console/search?q=fractions&part=1", (route) => {
      answer = () => route.abort();
      resolve();
    });
  });
  await field.fill("fractions");
  await isRunning;
  assert.ok((await chosen(page).getAttribute("href")).startsWith("/console/students/"));
  await page.keyboard.press("Enter");
  await page.waitForURL("**/console/search?q=fractions");
  await answer().catch(() => "the browser has cancelled it");
  await page.unroute("**/console/search?q=fractions&part=1");

  // If the server does not answer, the dialog says what to do.
  await page.route("**/console/search?*part=1*", (route) => route.abort());
  await page.keyboard.press("Control+k");
  await field.fill("fra");
  await page.getByText("The search does not answer.").waitFor();
  await page.unroute("**/console/search?*part=1*");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Control+k");
  await page.getByRole("option", { name: "Students" }).first().waitFor();

  // Browsers that fill in a form send events without a key.
  const errors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  await field.evaluate((input) => input.dispatchEvent(new Event("keydown", { bubbles: true })));
  assert.deepEqual(errors, []);

  // On a Mac, Ctrl-K edits text, so Command-K opens the search.
  const { page: mac } = await kit.newPage(t);
  await mac.addInitScript(() => Object.defineProperty(navigator, "platform", { get: () => "MacIntel" }));
  await mac.context().addCookies(await page.context().cookies());
  await mac.goto("/console");
  assert.equal(await mac.locator(".find-field kbd").textContent(), "⌘ K");
  assert.equal(await mac.locator(".find-field").getAttribute("aria-keyshortcuts"), "Meta+K");
  await mac.keyboard.press("Control+k");
  assert.equal(await mac.locator("#find[open]").count(), 0);
  await mac.keyboard.press("Meta+k");
  await mac.locator("#find[open]").waitFor();

  // Without scripts, the link leads to a page that does the same.
  const { page: plain } = await kit.newPage(t, { javaScriptEnabled: false });
  await plain.context().addCookies(await page.context().cookies());
  await plain.goto("/console");
  await plain.locator(".find-field").click();
  await plain.getByLabel("Name, title or code").fill("frac");
  await plain.getByRole("button", { name: "Search" }).click();
  await plain.getByRole("link", { name: "Fractions" }).first().click();
  assert.equal(await plain.textContent("h1"), "Fractions");

  await kit.look("search", `/console/search?q=${encodeURIComponent(givenName)}`, "guide");
  await kit.look("search-nothing", "/console/search?q=xyzzy");
  await kit.look("problem-not-found", "/console/nowhere", "guide", 404);
  await kit.look("problem-refused", "/console/system", "guide", 403);
}
