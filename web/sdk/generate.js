// Generates src/api.ts, the types of request and answer bodies, from the server's API document: node generate.js
import { readFileSync, writeFileSync } from "node:fs";
import { bundleFromString, createConfig } from "@redocly/openapi-core";
import openapiTS, { astToString } from "openapi-typescript";

const document = JSON.parse(readFileSync(new URL("../../openapi.json", import.meta.url), "utf8"));
// The SDK only calls the game platform. Types of other areas would triple its size.
const isOfGames = ([, operations]) => Object.values(operations).some(({ tags }) => tags.includes("games"));
document.paths = Object.fromEntries(Object.entries(document.paths).filter(isOfGames));
const options = { source: JSON.stringify(document), config: await createConfig({}), removeUnusedComponents: true };
const { bundle } = await bundleFromString(options);
const types = await openapiTS(bundle.parsed, { emptyObjectsUnknown: true, silent: true });
writeFileSync(new URL("src/api.ts", import.meta.url), astToString(types));
