// What a developer sees in the browser and in the terminal when the backend or the sandbox fails.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync, readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { launch } from "../../tests/chromium.js";
import { binary, freePort, until } from "../../tests/server.js";
import { withBackend } from "./project.js";
import { Vite } from "./vite.js";

/** These tests drive the program; `LYCEUM_TEST_BIN` names it. */
const skip = binary ? false : "LYCEUM_TEST_BIN names no program";

const GAME = {
  "vite.config.js": `import { lyceum } from "@lyceum/vite"; export default { plugins: [lyceum()] };`,
  "index.html": "<!doctype html><title>game</title><h1>game</h1>",
};
const ROUTE = `type Answer = { total: number };
export const GET = (c: any) => {
  const answer: Answer = { total: sum([1, 2]) };
  return c.json(answer);
};
`;
const SUM = "const sum = (numbers: number[]) => numbers.reduce((one, other) => one + other);\n";

/** Errors of the page itself, which fail the test. */
function quiet(t, page) {
  const errors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  t.after(() => assert.deepEqual(errors, []));
}

test("an address of the backend shows the exception in its source, and loads again when it is fixed", { skip }, async (t) => {
  const { root, put } = withBackend({ ...GAME, "server/api/total.ts": ROUTE });
  const vite = await Vite.start(t, root);
  const page = await (await launch(t)).newPage();
  quiet(t, page);
  const answer = await page.goto(`${vite.url}api/total`);
  assert.equal(answer.status(), 500);
  await page.getByText("ReferenceError: sum is not defined").waitFor();
  await page.getByText("server/api/total.ts:3:35", { exact: true }).waitFor();
  const frame = await page.getByRole("region", { name: "Source" }).textContent();
  assert.match(frame, /^> 3 \|   const answer: Answer = \{ total: sum\(\[1, 2\]\) \};$/m);
  assert.match(await page.getByRole("region", { name: "Calls" }).textContent(), /at GET \(server\/api\/total\.ts:3:35\)/);
  // The terminal says the same.
  await vite.says(/at GET \(server\/api\/total\.ts:3:35\)/);

  put("server/api/total.ts", "export const GET = (c: any) => c.json({ total: };\n");
  await page.getByText('Unexpected "}"').waitFor();
  put("server/api/total.ts", SUM + ROUTE);
  await page.getByText('{"total":3}').waitFor();
});

test("a page of the game shows why the backend is not rebuilt, until it is", { skip }, async (t) => {
  const { root, put } = withBackend({ ...GAME, "server/api/total.ts": SUM + ROUTE });
  const vite = await Vite.start(t, root);
  const page = await (await launch(t)).newPage();
  quiet(t, page);
  await page.goto(vite.url);
  const game = page.frameLocator("iframe");
  await game.getByRole("heading", { name: "game" }).waitFor();
  await until("the first build", async () => (await fetch(`${vite.url}api/total`)).ok);
  put("server/api/total.ts", `import { sum } from "sums";\n${ROUTE}`);
  const overlay = game.locator("vite-error-overlay");
  await overlay.getByText("run `npm install sums` in the project").waitFor();
  await overlay.getByText("server/api/total.ts:1:20").first().waitFor();
  // A page that is opened later shows it too.
  await page.reload();
  await overlay.getByText("run `npm install sums` in the project").waitFor();
  put("server/api/total.ts", SUM + ROUTE);
  await overlay.waitFor({ state: "detached" });
});

/** The processes of the program that run a command in the folder. */
function processes(root, command) {
  return readdirSync("/proc").filter((id) => {
    try {
      const [, word] = readFileSync(`/proc/${id}/cmdline`, "utf8").split("\0");
      return word === command && readlinkSync(`/proc/${id}/cwd`) === root;
    } catch {
      return false;
    }
  });
}

test("a sandbox that dies is started again with its data, at the same address", { skip }, async (t) => {
  const { root } = withBackend({ ...GAME, "server/api/total.ts": SUM + ROUTE });
  const vite = await Vite.start(t, root);
  const scores = async (init) => {
    const headers = { authorization: "Bearer mock", "content-type": "application/json" };
    return (await fetch(`${vite.sandbox}/${init ? "scores" : "users/me/scores"}`, { headers, ...init })).json();
  };
  const { sandbox } = vite;
  const before = (await scores()).length;
  await scores({ method: "POST", body: JSON.stringify({ score: 5 }) });
  vite.from = vite.said.length;
  const [id, ...others] = processes(root, "sandbox");
  assert.deepEqual(others, []);
  process.kill(Number(id), "SIGKILL");
  await vite.says(/the sandbox has died: it ended with SIGKILL[^]*it is started again, with its data/);
  await vite.says(/the sandbox runs again/);
  assert.equal(vite.sandbox, sandbox);
  assert.equal((await scores()).length, before + 1);
  await until("the backend", async () => (await fetch(`${vite.url}api/total`)).ok);
  // A second death so soon has a lasting reason.
  process.kill(Number(processes(root, "sandbox")[0]), "SIGKILL");
  await vite.says(/it died before, so it is not started again/);
});

const TYPED = `import { Hono, type Context } from "hono";
import { userOf, type User } from "@lyceum/sdk/server";

export const GET = async (c: Context<LyceumEnv>) => {
  const { DB, KV, BUCKET, SELF, secrets } = c.env;
  const { results } = await DB.prepare("SELECT name FROM t WHERE id = ?").bind(1).all<{ name: string }>();
  const name: string | undefined = results[0]?.name;
  const count: number | null = await DB.prepare("SELECT count(*) AS n FROM t").first<number>("n");
  const text: string | null = await KV.get("k");
  const value = await KV.get<{ a: number }>("k", "json");
  const a: number | undefined = value?.a;
  await BUCKET.put("k", c.req.raw.body, { httpMetadata: { contentType: "image/png" } });
  const object = await BUCKET.get("k");
  if (!object) return c.notFound();
  const sizes: number[] = (await BUCKET.list({ prefix: "a/" })).objects.map(({ size }) => size);
  const response: Response = await SELF.fetch("/api/other");
  const key: string = secrets.API_KEY;
  const user: string | undefined = c.get("user")?.sub;
  // @ts-expect-error there is no such method
  await DB.query("SELECT 1");
  // @ts-expect-error there is no such secret
  secrets.OTHER;
  // @ts-expect-error rows have the given type
  const wrong: number = results[0]!.name;
  // @ts-expect-error a value may be missing
  const missing: string = await KV.get("k");
  return name ? c.body(object.body) : c.json({ count, text, a, sizes, key, user, wrong, missing, status: response.status });
};

export const app = new Hono<LyceumEnv>().get("/", async (c) => new Response((await c.env.BUCKET.get("k"))!.body));
export default {
  async fetch(request: Request, env: LyceumEnv["Bindings"]): Promise<Response> {
    const user: User | null = userOf(request);
    return Response.json({ user, rows: (await env.DB.prepare("SELECT 1").run()).results.length });
  },
};
`;

test("the bindings of a project have types", { skip }, async (t) => {
  const integrations = { database: true, kv: true, bucket: true };
  const { root } = withBackend({
    "server/api/typed.ts": TYPED,
    ".env": "API_KEY=x\n",
    "lyceum.config.json": JSON.stringify({ name: "Typed", integrations }),
    "tsconfig.json": JSON.stringify({
      compilerOptions: {
        strict: true,
        noEmit: true,
        target: "ES2022",
        module: "ESNext",
        moduleResolution: "Bundler",
        lib: ["ES2022", "DOM", "DOM.Iterable"],
        types: [],
        skipLibCheck: true,
      },
      include: ["server", "lyceum-env.d.ts"],
    }),
  });
  const words = ["dev", "--no-sandbox", "--until-stdin-ends", "--port", String(await freePort())];
  const dev = spawn(binary, words, { cwd: root, stdio: ["pipe", "ignore", "inherit"] });
  t.after(() => dev.stdin.end());
  await until("the types", () => existsSync(join(root, "lyceum-env.d.ts")));
  const tsc = new URL("../../node_modules/typescript/bin/tsc", import.meta.url).pathname;
  const compiler = spawn(process.execPath, [tsc, "-p", root], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  compiler.stdout.on("data", (text) => (said += text));
  const code = await new Promise((resolve) => compiler.on("close", resolve));
  assert.deepEqual([code, said], [0, ""]);
});
