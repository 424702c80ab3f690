// Signs in on the page of an app of the template `backend`, writes a note in Chromium and prints what the page shows:
// node play-as-student.js ADDRESS EMAIL PASSWORD
import { launch } from "./chromium.js";

const [address, email, password] = process.argv.slice(2);
const ends = [];
try {
  const browser = await launch({ after: (end) => ends.push(end) }, ["--test-third-party-cookie-phaseout"]);
  const page = await browser.newPage();
  const errors = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(address);
  await page.fill("#email", email);
  await page.fill("#password", password);
  await page.keyboard.press("Enter");
  await page.waitForURL(address);
  const app = page.frameLocator("iframe");
  await app.getByLabel("Write a note:").fill("Rivers are long");
  await app.getByRole("button").click();
  await app.getByRole("link").waitFor();
  for (const part of [app.locator("#visits"), app.locator("#earned"), app.locator("#notes")]) console.log(await part.textContent());
  if (errors.length > 0) throw new Error(errors.join("\n"));
} finally {
  for (const end of ends) await end();
}
