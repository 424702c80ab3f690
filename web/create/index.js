#!/usr/bin/env node
// Runs `lyceum create` of @lyceum/cli with the given arguments. The templates are in the program.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);
const manifest = require.resolve("@lyceum/cli/package.json");
const program = join(dirname(manifest), require(manifest).bin.lyceum);
const { status, error } = spawnSync(program, ["create", ...process.argv.slice(2)], { stdio: "inherit" });
if (error) console.error(`error: cannot start ${program}: ${error.message}`);
process.exitCode = status ?? 1;
