// The packages of this repository as tarballs, and what they need from the packages that tests have installed, because
// no test asks a registry.
import { execFile } from "node:child_process";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { binary, folder } from "./server.js";

const run = promisify(execFile);
const path = (name) => fileURLToPath(new URL(name, import.meta.url));

/** Packs the program and the npm packages; the tarballs by package. */
export async function pack() {
  const packed = folder();
  await run(process.execPath, [path("../pack.js"), binary, packed]);
  const named = (file) => basename(file).replace(/-\d.*$/, "").replace(/^lyceum-/, "@lyceum/");
  return Object.fromEntries(readdirSync(packed).map((file) => [named(file), join(packed, file)]));
}

/** Installs what `package.json` names: tarballs of this repository, and of others what tests have installed. */
export async function install(root, tarballs) {
  const file = join(root, "package.json");
  const manifest = JSON.parse(readFileSync(file, "utf8"));
  for (const list of [manifest.dependencies, manifest.devDependencies]) {
    for (const name of Object.keys(list ?? {})) list[name] = `file:${tarballs[name] ?? installed(name)}`;
  }
  // What the program brings for backends.
  const scopes = { "@cloudflare": "hosting", "@esbuild": "deploy" };
  const brought = Object.entries(scopes).flatMap(([scope, tests]) =>
    readdirSync(path(`../../tests/${tests}/node_modules/${scope}`)).map((name) => `${scope}/${name}`),
  );
  manifest.overrides = Object.fromEntries([...brought, "hono"].map((name) => [name, `file:${installed(name)}`]));
  writeFileSync(file, JSON.stringify(manifest));
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund"], { cwd: root });
}

/** Where tests have installed a package. */
function installed(name) {
  const places = ["..", "../../tests/deploy", "../../tests/hosting"].map((place) => path(`${place}/node_modules/${name}`));
  const found = places.find(existsSync);
  if (!found) throw new Error(`no test has installed '${name}'; run \`npm ci\` in web, tests/deploy and tests/hosting`);
  return found;
}
