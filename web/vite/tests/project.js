import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { folder } from "../../tests/server.js";

/** A project in a folder of its own with the packages of this repository. */
export function project(files) {
  const root = folder();
  const put = (path, text) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  symlinkSync(new URL("../../node_modules", import.meta.url).pathname, join(root, "node_modules"));
  put("package.json", JSON.stringify({ name: "my-game", type: "module" }));
  for (const [path, text] of Object.entries(files)) put(path, text);
  return { root, put };
}

/** A project with a backend, and what that is bundled with. */
export function withBackend(files) {
  const made = project(files);
  const tests = new URL("../../../tests/deploy/node_modules/", import.meta.url).pathname;
  const web = new URL("../../node_modules/", import.meta.url).pathname;
  rmSync(join(made.root, "node_modules"));
  mkdirSync(join(made.root, "node_modules"));
  for (const [folder, name] of [
    [tests, "hono"],
    [tests, "@esbuild"],
    [web, "@lyceum"],
    [web, "vite"],
  ])
    symlinkSync(join(folder, name), join(made.root, "node_modules", name));
  return made;
}
