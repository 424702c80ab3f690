import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";

/** The project that Vite serves. */
export interface Project {
  name: string;
  slug: string;
  /** The file that says so, where there is one. */
  config?: string;
}

/** Longest slug: it becomes a label of a host's name with `-staging` behind it. */
const SLUG_MAX_CHARACTERS = 50;

/**
 * Name and slug of a project: of `lyceum.config.json` or `lyceum.config.js`, else of `package.json`,
 * else of the folder.
 */
export async function readProject(root: string): Promise<Project> {
  for (const file of ["lyceum.config.json", "lyceum.config.js"].map((name) => join(root, name)).filter(existsSync)) {
    const config = await read(file);
    if (typeof config.name !== "string" || !config.name) throw new Error(`${file} has no name; add name: "My game"`);
    return { name: config.name, slug: slugOf(config.name), config: file };
  }
  const manifest = join(root, "package.json");
  const name = existsSync(manifest) ? (await read(manifest)).name : undefined;
  const told = typeof name === "string" && name ? name.replace(/^@[^/]*\//, "") : basename(root);
  return { name: told, slug: slugOf(told) };
}

async function read(file: string): Promise<{ name?: unknown }> {
  if (file.endsWith(".json")) return JSON.parse(readFileSync(file, "utf8")) as { name?: unknown };
  // A query makes Node read a changed file again.
  const module = (await import(`${pathToFileURL(file).href}?at=${statSync(file).mtimeMs}`)) as { default?: { name?: unknown } };
  return module.default ?? {};
}

/** The name in addresses: small letters, digits and single dashes between them. */
export function slugOf(name: string): string {
  const plain = name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const slug = plain.replace(/[^a-z0-9]+/g, "-").slice(0, SLUG_MAX_CHARACTERS).replace(/^-+|-+$/g, "");
  if (!slug) throw new Error(`no address can be made of the name '${name}'; use letters or digits`);
  return slug;
}
