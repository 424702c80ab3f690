// The packages of this repository, packed, and a registry on this machine from which npm installs them.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { startRegistry } from "./registry.js";
import { binary, folder } from "./server.js";

const run = promisify(execFile);

/** Packs the program and the npm packages, and serves them; the variables with which npm uses that registry and one
 * cache for all its installations. */
export async function publish() {
  const tarballs = folder();
  await run(process.execPath, [fileURLToPath(new URL("../pack.js", import.meta.url)), binary, tarballs, "--quick"]);
  const settings = { registry: await startRegistry(tarballs), cache: folder(), prefer_offline: "true", audit: "false", fund: "false" };
  const variables = Object.entries(settings).map(([name, value]) => [`npm_config_${name}`, value]);
  return { ...process.env, ...Object.fromEntries(variables) };
}
