// Gathers the files that the server embeds: our own and those of npm packages, as they come.
import { cpSync, mkdirSync, rmSync } from "node:fs";

const from = (path) => new URL(path, import.meta.url);
const files = [
  "node_modules/swagger-ui-dist/swagger-ui-bundle.js",
  "node_modules/swagger-ui-dist/swagger-ui.css",
  "src/docs.js",
  "src/docs.css",
];

rmSync(from("dist"), { recursive: true, force: true });
mkdirSync(from("dist"));
for (const file of files) {
  cpSync(from(file), from(`dist/${file.split("/").pop()}`));
}
