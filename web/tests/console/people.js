// People: an account from its creation to its end, and the own account. The API says the same.
import assert from "node:assert/strict";

export default async function people(t, kit) {
  const page = await kit.look("people", "/console/accounts");
  const { total } = await kit.api("/api/people?limit=1").catch(() => ({}));
  const rows = await kit.exported("/console/accounts");
  if (total !== undefined) assert.equal(rows.length, total);
  assert.ok(rows.some(({ account }) => account === "administrator@example.org"));

  await kit.look("account-new", "/console/accounts/new");
  await page.goto("/console/accounts/new");
  await page.fill("input[name=email]", "zoe@example.org");
  await page.fill("input[name=name]", "Zoe");
  await page.selectOption("select[name=role]", "developer");
  await page.click("text=Create account");
  const link = await page.textContent(".secret code");
  assert.match(link, /\/welcome\?link=/);
  await page.goto("/console/accounts?filter=zoe@example");
  await page.click("tbody a");
  const path = new URL(page.url()).pathname;
  await kit.look("account", path);
  await page.selectOption("select[name=role]", "guide");
  await page.click("text=Change role");
  assert.match(await page.textContent(".facts"), /guide/);

  // The owner sets the password, and sees the own account.
  const { page: zoe } = await kit.newPage(t);
  await zoe.goto(new URL(link).pathname + new URL(link).search);
  await zoe.fill("#password", "password of zoe");
  await zoe.keyboard.press("Enter");
  await zoe.waitForURL("**/console");
  await zoe.click("#navigation .me a");
  await zoe.fill("#current", "password of zoe");
  await zoe.fill("#new", "another password");
  await zoe.click("text=Change password");
  await zoe.waitForSelector("text=The password is changed.");
  await kit.look("profile", "/console/profile", "guide");

  await page.goto(path);
  await page.click("text=End all sessions");
  await page.waitForSelector("text=The person is not signed in.");
  await zoe.goto("/console");
  assert.match(zoe.url(), /sign-in/);
  await page.click("text=Disable account");
  await page.waitForSelector("text=Enable account");
}
