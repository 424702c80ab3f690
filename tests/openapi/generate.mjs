// Generates the types of a server's API document, compiles calls.ts with them, and runs it.
//
//     node generate.mjs FOLDER ADDRESS TOKEN
import { execFileSync } from "node:child_process";
import { copyFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import openapiTS, { astToString } from "openapi-typescript";

const [folder, address, token] = process.argv.slice(2);
const here = import.meta.dirname;
const types = await openapiTS(new URL("/openapi.json", address));
writeFileSync(join(folder, "api.ts"), astToString(types));
copyFileSync(join(here, "calls.ts"), join(folder, "calls.ts"));
writeFileSync(join(folder, "package.json"), '{"type": "module"}');
symlinkSync(join(here, "node_modules"), join(folder, "node_modules"));
const compiler = join(here, "node_modules/typescript/bin/tsc");
const options = ["--strict", "--target", "es2022", "--module", "nodenext", "--skipLibCheck", "calls.ts"];
const run = (...command) => execFileSync(process.execPath, command, { cwd: folder, stdio: "inherit" });
run(compiler, ...options);
run("calls.js", address, token);
