import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { build } from "vite";

import { lyceum } from "../dist/index.js";
import { readProject, slugOf } from "../dist/project.js";
import { project } from "./project.js";

const PAGE = '<!doctype html><title>game</title><script type="module" src="/main.js"></script>';

const built = (root, options) => build({ root, logLevel: "silent", plugins: [lyceum(options)] });

/** What Python, which has no part in this, reads in an archive. */
function read(archive) {
  const script =
    "import json,sys,zipfile; z=zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; print(json.dumps({n:z.read(n).decode('utf8','replace') for n in z.namelist()}))";
  return JSON.parse(execFileSync("python3", ["-c", script, archive], { encoding: "utf8" }));
}

test("a build is packed with its manifest", async () => {
  const { root } = project({
    "index.html": PAGE,
    "main.js": "console.log('hello')",
    "public/sounds/größe.txt": "🎵".repeat(1000),
  });
  await built(root);
  const files = read(join(root, ".lyceum/my-game.zip"));
  const names = Object.keys(files);
  assert.equal(names[0], "lyceum.manifest.json");
  assert.ok(
    names.includes("index.html") &&
      names.includes("sounds/größe.txt") &&
      names.some((name) => /^assets\/.*\.js$/.test(name)),
    names,
  );
  const manifest = JSON.parse(files["lyceum.manifest.json"]);
  assert.deepEqual([manifest.version, manifest.platform], ["1", "web"]);
  assert.ok(Math.abs(Date.parse(manifest.createdAt) - Date.now()) < 60_000);
  assert.equal(files["sounds/größe.txt"], "🎵".repeat(1000));
  assert.doesNotMatch(files["index.html"], /__LYCEUM__/);
});

test("the same build leaves the archive as it is, another one does not", async () => {
  const { root, put } = project({ "index.html": PAGE, "main.js": "console.log(1)" });
  const archive = join(root, ".lyceum/my-game.zip");
  await built(root);
  const first = readFileSync(archive);
  await built(root);
  assert.ok(first.equals(readFileSync(archive)));
  put("main.js", "console.log(2)");
  await built(root);
  assert.ok(!first.equals(readFileSync(archive)));
});

test("nothing is packed where that is switched off or the build fails", async () => {
  const { root, put } = project({ "index.html": PAGE, "main.js": "console.log(1)" });
  await built(root, { export: { autoZip: false } });
  assert.ok(!existsSync(join(root, ".lyceum")));
  put("main.js", "import './missing.js'");
  await assert.rejects(built(root));
  assert.ok(!existsSync(join(root, ".lyceum")));
});

test("the project's name is its config's, else its package's", async () => {
  const { root, put } = project({});
  assert.deepEqual(await readProject(root), { name: "my-game", slug: "my-game" });
  put("lyceum.config.js", "export default { name: `Fractions ${1 + 1}` }");
  assert.equal((await readProject(root)).slug, "fractions-2");
  put("server/api/hello.js", "export const GET = (c) => c.json(1);");
  assert.equal((await readProject(root)).routes, join(root, "server/api"));
  put("lyceum.config.json", '{"name": "Kleiner & feiner!", "integrations": {"customRoutes": false}}');
  await assert.rejects(readProject(root), /two config files/);
  rmSync(join(root, "lyceum.config.js"));
  const { name, slug, config, routes } = await readProject(root);
  assert.deepEqual([name, slug, config], ["Kleiner & feiner!", "kleiner-feiner", join(root, "lyceum.config.json")]);
  assert.equal(routes, undefined, "the config says that there are none");
});

test("slugs are labels of a host's name", () => {
  // The server makes the same of them.
  const shared = JSON.parse(readFileSync(new URL("../../../tests/slugs.json", import.meta.url), "utf8"));
  for (const [name, slug] of Object.entries(shared)) assert.equal(slugOf(name), slug);
  assert.throws(() => slugOf("数学"), /use letters or digits/);
});

test("a config in TypeScript that computes names the project, again after a change", async () => {
  const config = (word) =>
    `const words: string[] = ["Word", "${word}"];\nexport default { name: words.join(" ") } satisfies object;`;
  const { root, put } = project({ "lyceum.config.ts": config("Rivers") });
  assert.equal((await readProject(root)).slug, "word-rivers");
  put("lyceum.config.ts", config("Brooks"));
  assert.equal((await readProject(root)).slug, "word-brooks");
});
