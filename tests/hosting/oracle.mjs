// Runs every case of worker.js in miniflare and prints the answers by name, as JSON.
import { readFile } from "node:fs/promises";
import { Miniflare } from "miniflare";

const self = `
export default function (env) {
  const whole = (input) =>
    typeof input === "string" && input.startsWith("/") ? "http://self" + input : input;
  return { fetch: (input, init) => env.fetcher.fetch(whole(input), init) };
}`;
const host = new Miniflare({
  workers: [
    {
      name: "main",
      modules: [{ type: "ESModule", path: "worker.js", contents: await readFile(new URL("worker.js", import.meta.url), "utf8") }],
      compatibilityDate: "2025-01-01",
      compatibilityFlags: ["nodejs_compat"],
      d1Databases: ["DB"],
      kvNamespaces: ["KV"],
      r2Buckets: ["BUCKET"],
      wrappedBindings: { SELF: { scriptName: "self" } },
    },
    { name: "self", modules: true, script: self, serviceBindings: { fetcher: "main" } },
  ],
});
const cases = await (await host.dispatchFetch("http://localhost/cases")).json();
const answers = {};
for (const name of cases) {
  const response = await host.dispatchFetch(`http://localhost/${name}`);
  answers[name] = response.ok ? await response.json() : await response.text();
}
await host.dispose();
process.stdout.write(JSON.stringify(answers));
