// Serves a bundled worker with miniflare until the input ends: node serve.mjs PORT FILE
import { readFile } from "node:fs/promises";
import { Miniflare } from "miniflare";

const [port, file] = process.argv.slice(2);
const host = new Miniflare({
  host: "127.0.0.1",
  port: Number(port),
  modules: [{ type: "ESModule", path: "worker.js", contents: await readFile(file, "utf8") }],
  compatibilityDate: "2026-04-01",
  compatibilityFlags: ["nodejs_compat"],
});
await host.ready;
process.stdin.resume().on("end", async () => {
  await host.dispose();
  process.exit();
});
