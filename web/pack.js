// Packs the SDK, the Vite plugin, the program and `create-lyceum` as npm tarballs: node pack.js PROGRAM FOLDER [--quick]
// With --quick, the tarball of the program is not compressed, which takes npm most of the time. Tests use it.
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const isQuick = process.argv[4] === "--quick";
const [program, folder] = process.argv.slice(2, 4).map((path) => resolve(path));
if (!folder) throw new Error("usage: node pack.js PROGRAM FOLDER [--quick]");

/** How the packages of workerd name a platform. */
const WORKERD = {
  "linux-x64": "linux-64",
  "linux-arm64": "linux-arm64",
  "darwin-x64": "darwin-64",
  "darwin-arm64": "darwin-arm64",
};

const web = (path) => fileURLToPath(new URL(path, import.meta.url));
const { version } = JSON.parse(readFileSync(web("sdk/package.json"), "utf8"));
const staged = mkdtempSync(join(tmpdir(), "lyceum-cli-"));
try {
  mkdirSync(join(staged, "bin"));
  // In a quick tarball, npm only decides which files belong to the package. The program is copied in afterwards.
  if (isQuick) writeFileSync(join(staged, "bin/lyceum"), "");
  else install(staged);
  const files = ["README.md", "index.js", "index.d.ts", "config.schema.json"];
  for (const name of files) copyFileSync(web(`cli/${name}`), join(staged, name));
  const manifest = {
    name: "@lyceum/cli",
    version,
    description: "The program lyceum: an education platform in one binary, with a sandbox for app developers",
    license: "MIT OR Apache-2.0",
    bin: { lyceum: "bin/lyceum" },
    type: "module",
    exports: {
      ".": { types: "./index.d.ts", default: "./index.js" },
      "./config.schema.json": "./config.schema.json",
      "./package.json": "./package.json",
    },
    // These packages run and bundle backends, and provide their router. Naming only the packages of this platform
    // avoids an install script.
    dependencies: {
      [`@cloudflare/workerd-${WORKERD[`${process.platform}-${process.arch}`]}`]: pinned("hosting", "workerd"),
      [`@esbuild/${process.platform}-${process.arch}`]: pinned("deploy", "esbuild"),
      hono: pinned("deploy", "hono"),
    },
    // npm refuses to install the package on platforms on which it does not run.
    os: [process.platform],
    cpu: [process.arch],
  };
  writeFileSync(join(staged, "package.json"), JSON.stringify(manifest, undefined, 2));
  mkdirSync(folder, { recursive: true });
  const options = ["pack", "--silent", "--pack-destination", folder];
  const packages = [web("sdk"), web("vite"), web("create"), staged];
  const packed = execFileSync("npm", [...options, ...packages], { encoding: "utf8" });
  if (isQuick) {
    const file = join(folder, `lyceum-cli-${version}.tgz`);
    const names = execFileSync("tar", ["--list", "--gzip", "--file", file], { encoding: "utf8" }).trim().split("\n");
    const chosen = names.map((name) => name.replace("package/", ""));
    install(staged);
    execFileSync("tar", ["--create", "--file", file, "--transform=s,^,package/,", "--directory", staged, ...chosen]);
  }
  for (const name of packed.trim().split("\n")) console.log(join(folder, name));
} finally {
  rmSync(staged, { recursive: true });
}

/** Copies the program into the package. */
function install(folder) {
  const installed = join(folder, "bin/lyceum");
  copyFileSync(program, installed);
  strip(installed);
  chmodSync(installed, 0o755);
}

/** The version that is tested here. */
function pinned(folder, name) {
  const manifest = JSON.parse(readFileSync(web(`../tests/${folder}/package.json`), "utf8"));
  return manifest.dependencies[name];
}

/** Takes out what only debuggers read; where that cannot be done the package is larger. */
function strip(program) {
  if (process.platform !== "linux") return;
  try {
    execFileSync("strip", [program], { stdio: "ignore" });
  } catch (error) {
    console.warn(`cannot strip the symbols of the program: ${error.message}`);
  }
}
