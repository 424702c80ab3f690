// Builds the files that the server embeds: the console's styles and scripts, bundled under names with a hash of their
// content, the pictures of class secrets, and the unchanged files of the API explorer.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
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

/** Gives a script the Spanish texts that are in these sources, as `t("…")` or `plural(…, "…", "…")`. */
const spanishTexts = (paths) => ({
  name: "spanish-texts",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^spanish-texts$/ }, ({ path }) => ({ path, namespace: "texts" }));
    onLoad({ filter: /.*/, namespace: "texts" }, () => {
      const { texts } = JSON.parse(readFileSync(from("../../crates/console/locales/es.json")));
      const sources = paths.map((path) => readFileSync(from(path), "utf8")).join("");
      const used = Object.entries(texts).filter(([english]) => sources.includes(JSON.stringify(english)));
      return { contents: JSON.stringify(Object.fromEntries(used)), loader: "json" };
    });
  },
});

/** Bundles files; a script with the texts that it and its parts use. */
async function bundle(paths) {
  const options = {
    entryPoints: paths.map((path) => fileURLToPath(from(path))),
    absWorkingDir: fileURLToPath(from(".")),
    outdir: fileURLToPath(from("dist")),
    entryNames: "[name]-[hash]",
    assetNames: "[name]-[hash]",
    loader: { ".svg": "copy", ".woff2": "file" },
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    logLevel: "warning",
  };
  const { metafile } = await build({ ...options, plugins: [spanishTexts([])], metafile: true, write: false });
  const parts = Object.keys(metafile.inputs).filter((path) => path.endsWith(".js"));
  await build({ ...options, plugins: [spanishTexts(parts)] });
}

rmSync(from("dist"), { recursive: true, force: true });
mkdirSync(from("dist"));
for (const file of files) {
  cpSync(from(file), from(`dist/${file.split("/").pop()}`));
}
await bundle([...pages.map((page) => `src/${page}.css`), ...pictures]);
for (const page of pages) await bundle([`src/${page}.js`]);
