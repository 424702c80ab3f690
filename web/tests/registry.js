// A registry of npm packages on this machine. It serves the packages of this repository, packed, and of others what the
// tests have installed, so that `npm install` is the real one and no test asks a registry elsewhere.
// On its own: node registry.js FOLDER-OF-TARBALLS. It prints its address and ends with its standard input.
import { execFileSync, spawn } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
/** The folders in which the tests have installed packages. */
const INSTALLED = ["..", "../../tests/deploy", "../../tests/hosting"].map(path);

/** Serves the tarballs of a folder and the installed packages as long as this process does something; the address. */
export async function startRegistry(tarballs) {
  const packages = {};
  const add = (manifest, content) => {
    const versions = (packages[manifest.name] ??= {});
    versions[manifest.version] ??= { manifest, content };
  };
  for (const name of readdirSync(tarballs)) {
    const file = join(tarballs, name);
    const manifest = execFileSync("tar", ["--extract", "--to-stdout", "--file", file, "package/package.json"]);
    add(JSON.parse(manifest), (response) => response.end(readFileSync(file)));
  }
  for (const folder of INSTALLED) {
    const lock = JSON.parse(readFileSync(join(folder, "node_modules/.package-lock.json"), "utf8"));
    for (const [place, { link }] of Object.entries(lock.packages)) {
      if (link || !place.startsWith("node_modules/")) continue;
      const root = join(folder, place);
      add(JSON.parse(readFileSync(join(root, "package.json"), "utf8")), (response) => packed(root).pipe(response));
    }
  }
  const server = createServer((request, response) => {
    const [name, version] = decodeURIComponent(request.url.slice(1)).split("/-/");
    const versions = packages[name];
    if (!versions) return response.writeHead(404).end(`{"error":"no test has installed '${name}'"}`);
    if (version) return versions[version.replace(/\.tgz$/, "")].content(response);
    const base = `http://${request.headers.host}/${name}/-`;
    const listed = ([number, { manifest }]) => [number, { ...manifest, dist: { tarball: `${base}/${number}.tgz` } }];
    const latest = Object.keys(versions)[0];
    const about = { name, "dist-tags": { latest }, versions: Object.fromEntries(Object.entries(versions).map(listed)) };
    response.setHeader("content-type", "application/json").end(JSON.stringify(about));
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  server.unref();
  return `http://127.0.0.1:${server.address().port}/`;
}

/** A tarball of an installed package. npm also reads those that are not compressed, which takes less time to make. */
function packed(root) {
  const words = ["--create", "--exclude=./node_modules", "--transform=s,^\\.,package,", "--directory", root, "."];
  return spawn("tar", words, { stdio: ["ignore", "pipe", "inherit"] }).stdout;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  console.log(await startRegistry(process.argv[2]));
  process.stdin.resume().on("end", () => process.exit());
}
