import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A project in a folder of its own with the packages of this repository; removed when the test ends. */
export function project(t, files) {
  const root = mkdtempSync(join(tmpdir(), "lyceum-vite-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const put = (path, text) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  symlinkSync(new URL("../../node_modules", import.meta.url).pathname, join(root, "node_modules"));
  put("package.json", JSON.stringify({ name: "my-game", type: "module" }));
  for (const [path, text] of Object.entries(files)) put(path, text);
  return { root, put };
}
