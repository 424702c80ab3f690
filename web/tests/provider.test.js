// Signing in by an OpenID provider, a real one beside a real server, in a real browser.
import assert from "node:assert/strict";
import { test } from "node:test";

import { STEP_MAX_MS, launch } from "./chromium.js";
import { provider } from "./provider.js";
import { Server, binary } from "./server.js";

/** These tests drive the program; `LYCEUM_TEST_BIN` names it. */
const skip = binary ? false : "LYCEUM_TEST_BIN names no program";

const PEOPLE = {
  ada: { email: "Ada@example.org", email_verified: true, name: "Ada elsewhere" },
  moved: { email: "ada@example.org", email_verified: true, name: "Not Ada" },
  new: { email: "new@example.org", email_verified: true, name: "<b>New</b>" },
  stranger: { email: "stranger@elsewhere.test", email_verified: true, name: "Stranger" },
  doubtful: { email: "boss@example.org", email_verified: false, name: "Doubtful" },
  nameless: { name: "Nameless" },
};

test("people sign in by the OpenID provider of the settings", { skip }, async (t) => {
  let id;
  const server = await Server.start(t, async (server) => {
    id = await provider(t, PEOPLE, server.base);
    server.env = id.settings;
    for (const name of ["boss", "ada"]) {
      server.lyceum("admin", "user", "create", `${name}@example.org`, "--name", name, "--role", "administrator");
    }
  });
  const browser = await launch(t);

  /** Signs in as somebody in a new browser; answers the page where that ends. */
  const signIn = async (login, next = "/device") => {
    const context = await browser.newContext({ baseURL: server.base });
    t.after(() => context.close());
    const page = await context.newPage();
    page.setDefaultTimeout(STEP_MAX_MS);
    await page.goto(`/sign-in?next=${encodeURIComponent(next)}`);
    await page.click("text=Sign in with School ID");
    await page.fill("[name=login]", login);
    await page.fill("[name=password]", "any");
    await page.click("[type=submit]");
    await page.click("[type=submit]");
    await page.waitForURL(`${server.base}/**`);
    return page;
  };
  /** Who that browser is. */
  const me = async (page) => (await page.request.get("/api/auth/me")).json();

  const ada = await signIn("ada", "/device?user_code=");
  assert.equal(new URL(ada.url()).pathname, "/device", "on to where it was wanted");
  assert.deepEqual(((who) => [who.email, who.name, who.role])(await me(ada)), ["ada@example.org", "ada", "administrator"]);
  const cookies = await ada.context().cookies(server.base);
  assert.deepEqual(cookies.map(({ name }) => name).filter((name) => name.includes("attempt")), [], "nothing of the try is left");
  assert.ok(cookies.find(({ name }) => name === "lyceum").httpOnly);

  const made = await me(await signIn("new"));
  assert.deepEqual([made.email, made.name, made.role], ["new@example.org", "<b>New</b>", "guide"], "a new account, by the rule");

  const refusals = {
    moved: "belongs to another identity",
    stranger: "People with addresses of 'elsewhere.test' cannot sign in",
    doubtful: "does not confirm your e-mail address",
    nameless: "does not confirm your e-mail address",
  };
  for (const [login, why] of Object.entries(refusals)) {
    const page = await signIn(login);
    assert.match(await page.textContent("[role=alert]"), new RegExp(why), login);
    assert.equal((await page.request.get("/api/auth/me")).status(), 401, login);
  }

  // The same identity opens the same account, whatever its address says by now; a disabled one stays shut.
  PEOPLE.new.email = "other@example.org";
  assert.equal((await me(await signIn("new"))).email, "new@example.org");
  server.lyceum("admin", "user", "disable", "new@example.org");
  assert.match(await (await signIn("new")).textContent("[role=alert]"), /Your account is disabled/);

  await t.test("answers that nobody asked for, foreign and used ones are refused", async () => {
    const refused = async (path, cookie) => {
      const answer = await fetch(server.base + path, { redirect: "manual", headers: cookie ? { cookie } : {} });
      assert.ok([401, 403].includes(answer.status), `${path}: ${answer.status}`);
      assert.doesNotMatch(answer.headers.getSetCookie().join(), /lyceum=lw_/);
    };
    const begun = await fetch(`${server.base}/sign-in/oidc?next=//evil.test`, { redirect: "manual" });
    const [cookie] = begun.headers.getSetCookie()[0].split(";");
    assert.ok(cookie.endsWith("."), "no path that leads elsewhere is kept");
    const sent = new URL(begun.headers.get("location")).searchParams;
    assert.equal(sent.get("code_challenge_method"), "S256");
    const state = sent.get("state");
    await refused("/sign-in/oidc/callback");
    await refused(`/sign-in/oidc/callback?state=${state}&code=x`);
    await refused(`/sign-in/oidc/callback?state=x&code=x`, cookie);
    await refused(`/sign-in/oidc/callback?state=${state}&code=x`, cookie);
    await refused(`/sign-in/oidc/callback?state=${state}&error=access_denied`, cookie);
    await refused(`/sign-in/oidc/callback?state=${state}&code=x&iss=https://evil.test`, cookie);
  });

  const kinds = new Set(id.asked.filter((asked) => !/\/(auth|interaction|favicon)/.test(asked)));
  assert.deepEqual([...kinds].sort(), ["GET /.well-known/openid-configuration", "GET /jwks", "GET /me", "POST /token"]);

  // Without the provider passwords work on, and the page says what is wrong.
  await server.kill();
  server.env = { ...id.settings, LYCEUM_OIDC__ISSUER: "http://127.0.0.1:9" };
  await server.run();
  const answer = await fetch(`${server.base}/sign-in/oidc`, { redirect: "manual" });
  assert.equal(answer.status, 503);
  assert.match(await answer.text(), /cannot be reached[\s\S]*name="password"/);
});

test("a student signs in by the provider only after the account was linked", { skip }, async (t) => {
  const people = {
    ann: { email: "ann@example.org", email_verified: true, name: "Ann" },
    kid: { email: "kid@example.org", email_verified: true, name: "Kid" },
  };
  const server = await Server.start(t, async (server) => {
    server.env = (await provider(t, people, server.base)).settings;
  });
  await server.school("ann", "kid");
  const link = server.lyceum("admin", "user", "create", "ann@example.org", "--role", "student", "--roster-user", "ann");
  const browser = await launch(t);
  const open = async () => {
    const context = await browser.newContext({ baseURL: server.base });
    context.setDefaultTimeout(STEP_MAX_MS);
    t.after(() => context.close());
    return context.newPage();
  };
  const identify = async (page, login) => {
    await page.fill("[name=login]", login);
    await page.fill("[name=password]", "any");
    await page.click("[type=submit]");
    await page.click("[type=submit]");
    await page.waitForURL(`${server.base}/**`);
  };
  const signIn = async (login) => {
    const page = await open();
    await page.goto("/sign-in");
    await page.click("text=Sign in with School ID");
    await identify(page, login);
    return page;
  };

  const ann = await open();
  await ann.goto(new URL(link.trim()).pathname + new URL(link.trim()).search);
  await ann.fill("#password", "password of ann");
  await ann.keyboard.press("Enter");
  await ann.waitForURL("**/learn");
  assert.match(await (await signIn("ann")).textContent("[role=alert]"), /must be linked to the sign-in service first/);
  assert.match(await (await signIn("kid")).textContent("[role=alert]"), /has no account/, "a student of the roster gets no guide's account");
  // A link without the token of the own page links nothing.
  assert.equal((await ann.request.get("/sign-in/oidc?link=forged", { maxRedirects: 0 })).status(), 403);
  await ann.click("header a[href='/learn/account']");
  await ann.click("text=Link School ID to your account");
  await identify(ann, "ann");
  assert.equal(new URL(ann.url()).pathname, "/learn/account");
  await ann.waitForSelector("text=You can sign in with School ID.");

  people.ann.email = "elsewhere@example.org";
  const again = await signIn("ann");
  assert.equal(new URL(again.url()).pathname, "/learn");

  // The settings name the domain of the school, and an address elsewhere links nothing.
  const kidLink = server.lyceum("admin", "user", "create", "kid@example.org", "--role", "student", "--roster-user", "kid");
  const kid = await open();
  await kid.goto(new URL(kidLink.trim()).pathname + new URL(kidLink.trim()).search);
  await kid.fill("#password", "password of kid");
  await kid.keyboard.press("Enter");
  await kid.waitForURL("**/learn");
  people.kid.email = "kid@elsewhere.test";
  await kid.goto("/learn/account");
  await kid.click("text=Link School ID to your account");
  await identify(kid, "kid");
  assert.match(await kid.textContent("[role=alert]"), /addresses of 'elsewhere\.test' cannot sign in/);
});
