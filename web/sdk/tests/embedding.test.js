import assert from "node:assert/strict";
import { before, test } from "node:test";

import { launch } from "../../tests/chromium.js";
import { serve } from "../../tests/pages.js";

/** A game that shows what its client was told. */
const GAME = `<!doctype html><title>game</title><script type="module">
  import { init } from "/sdk/index.js";
  window.heard = [];
  const asked = new URLSearchParams(location.search);
  const allowedOrigins = asked.get("origins")?.split(",");
  window.outcome = init({ initTimeoutMs: Number(asked.get("wait") ?? 5000), allowedOrigins }).then(
    async (client) => {
      for (const name of ["LYCEUM_PAUSE", "LYCEUM_TOKEN_REFRESH", "LYCEUM_OVERLAY"]) {
        client.runtime.on(name, (told) => heard.push([name, told]));
      }
      client.runtime.forwardKeys(["Escape"]);
      window.client = client;
      client.runtime.ready();
      await client.scores.submit(7);
      return client.queue.pending()[0].path;
    },
    (error) => error.name + ": " + error.message,
  );
</script><h1>game</h1>`;

/** A page that embeds it, keeps what it says and greets it at once or when told. */
const page = (game, greets) => `<!doctype html><title>page</title><script>
  window.told = [];
  addEventListener("message", ({ data, origin }) => told.push([data.type, data.payload, origin]));
  const frame = () => document.querySelector("iframe").contentWindow;
  window.say = (type, payload) => frame().postMessage({ type, payload }, "*");
  window.greet = () => say("LYCEUM_INIT", { baseUrl: "http://127.0.0.1:1/api", token: "t", gameId: "embedded" });
</script><iframe src="${game}" ${greets ? 'onload="greet()"' : ""}></iframe>`;

/** A frame of the embedding page's origin that is not the embedding page. */
const SIBLING = `<!doctype html><script>
  parent.frames[0].postMessage({ type: "LYCEUM_INIT", payload: { baseUrl: "http://127.0.0.1:1", token: "x" } }, "*");
  parent.postMessage({ type: "sibling has greeted" }, "*");
</script>`;

let browser;
before(async (t) => (browser = await launch(t)));

/** The embedding page, the frame of its game and both origins. */
async function embedded(t, greets, query = "") {
  const game = await serve(t, { "/": GAME });
  const outer = await serve(t, { "/": page(`${game}/${query}`, greets), "/sibling": SIBLING });
  const tab = await browser.newPage();
  t.after(() => tab.close());
  await tab.goto(outer);
  const frame = tab.frames().find((each) => each.url().startsWith(game));
  return { tab, frame, game, outer };
}

test("an embedded game is told where its server is, and tells that it is ready", async (t) => {
  const { tab, frame, game } = await embedded(t, true);
  assert.equal(await frame.evaluate(() => window.outcome), "/games/embedded/scores");
  const told = () => tab.evaluate(() => window.told.filter(([type]) => type !== "LYCEUM_HELLO"));
  await tab.waitForFunction(() => window.told.some(([type]) => type === "LYCEUM_READY"));
  assert.deepEqual(await told(), [["LYCEUM_READY", undefined, game]]);
});

test("it hears of pauses, overlays and new tokens, and hands keys on", async (t) => {
  const { tab, frame } = await embedded(t, true);
  await frame.evaluate(() => window.outcome);
  await tab.evaluate(() => {
    window.say("LYCEUM_PAUSE");
    window.say("LYCEUM_OVERLAY", true);
    window.say("LYCEUM_TOKEN_REFRESH", { token: "t2", exp: 5 });
    window.say("LYCEUM_NONSENSE", {});
  });
  await frame.waitForFunction(() => window.heard.length === 3);
  const heard = await frame.evaluate(() => window.heard);
  assert.deepEqual(heard.slice(1), [
    ["LYCEUM_OVERLAY", true],
    ["LYCEUM_TOKEN_REFRESH", { token: "t2", exp: 5 }],
  ]);
  await frame.locator("h1").click();
  await tab.keyboard.press("Escape");
  await tab.waitForFunction(() =>
    window.told.some(([type, payload]) => type === "LYCEUM_KEY_EVENT" && payload.type === "keyup"),
  );
  const keys = await tab.evaluate(() =>
    window.told.filter(([type]) => type === "LYCEUM_KEY_EVENT").map(([, payload]) => payload),
  );
  assert.deepEqual(keys, [
    { key: "Escape", code: "Escape", type: "keydown" },
    { key: "Escape", code: "Escape", type: "keyup" },
  ]);
});

test("a game asks the page that embeds it for the greeting, and for a new token when its own is refused", async (t) => {
  const { tab, frame } = await embedded(t, false);
  // The page answers each question, and nothing else makes it speak.
  await tab.evaluate(() => {
    addEventListener("message", ({ data }) => {
      if (data.type === "LYCEUM_HELLO") window.greet();
      if (data.type === "LYCEUM_TOKEN_REQUEST") window.say("LYCEUM_TOKEN_REFRESH", { token: "t2" });
    });
  });
  assert.equal(await frame.evaluate(() => window.outcome), "/games/embedded/scores");
  const origins = await tab.evaluate(() => window.told.map(([, , origin]) => origin));
  assert.deepEqual([...new Set(origins)], [new URL(frame.url()).origin]);
  const sent = await frame.evaluate(async () => {
    const seen = [];
    window.fetch = async (url, { headers }) => {
      seen.push(headers.authorization);
      const status = headers.authorization === "Bearer t" ? 401 : 200;
      return new Response("{}", { status, headers: { "content-type": "application/json" } });
    };
    await window.client.users.me();
    return seen.filter((each) => each);
  });
  assert.deepEqual(sent.slice(-2), ["Bearer t", "Bearer t2"]);
});

test("without a greeting it gives up and says what to do", async (t) => {
  const { frame, outer } = await embedded(t, false, "?wait=300");
  const outcome = await frame.evaluate(() => window.outcome);
  assert.match(outcome, /^SetupError: no LYCEUM_INIT came within 300 ms/);
  assert.ok(outcome.includes(outer), outcome);
});

test("a greeting of anybody but the embedding page is not heard", async (t) => {
  const { tab, frame } = await embedded(t, false, "?wait=500");
  await tab.evaluate(() => document.body.append(Object.assign(document.createElement("iframe"), { src: "/sibling" })));
  await frame.evaluate(() =>
    postMessage({ type: "LYCEUM_INIT", payload: { baseUrl: "http://127.0.0.1:1", token: "x" } }, "*"),
  );
  await tab.waitForFunction(() => window.told.some(([type]) => type === "sibling has greeted"));
  assert.match(await frame.evaluate(() => window.outcome), /^SetupError/);
});

test("a page whose origin is not allowed is not heard", async (t) => {
  const { frame } = await embedded(t, true, "?wait=300&origins=https://lyceum.example");
  assert.match(await frame.evaluate(() => window.outcome), /allowed origins: https:\/\/lyceum.example/);
});
