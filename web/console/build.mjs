// Builds the files that the server embeds: the console's styles and scripts, bundled under names with a hash of their
// content, the pictures of class secrets, and the unchanged files of the API explorer.
import { cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const from = (path) => new URL(path, import.meta.url);
const files = [
  "node_modules/swagger-ui-dist/swagger-ui-bundle.js",
  "node_modules/swagger-ui-dist/swagger-ui.css",
  "src/docs.js",
  "src/docs.css",
];
const pictures = readdirSync(from("src/pictures")).map((name) => `src/pictures/${name}`);
const pages = ["console", "item", "learn", "lesson", "play"];
const bundles = [...pages.flatMap((page) => [`src/${page}.css`, `src/${page}.js`]), ...pictures];

rmSync(from("dist"), { recursive: true, force: true });
mkdirSync(from("dist"));
for (const file of files) {
  cpSync(from(file), from(`dist/${file.split("/").pop()}`));
}
await build({
  entryPoints: bundles.map((path) => fileURLToPath(from(path))),
  outdir: fileURLToPath(from("dist")),
  entryNames: "[name]-[hash]",
  assetNames: "[name]-[hash]",
  loader: { ".svg": "copy", ".woff2": "file" },
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  logLevel: "warning",
});
