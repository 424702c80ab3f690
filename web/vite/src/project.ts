import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { loadConfigFromFile } from "vite";

/** The project that Vite serves. */
export interface Project {
  name: string;
  slug: string;
  /** The folder of the backend's routes, where there is one. */
  routes?: string;
  /** The file that says so, where there is one, and when it was changed. */
  config?: string;
  changedMs?: number;
}

/** Longest slug: it becomes a label of a host's name with `-staging` behind it. */
const SLUG_MAX_CHARACTERS = 50;

/** The names of a project's config file. */
export const CONFIG_FILES = [
  "lyceum.config.js",
  "lyceum.config.mjs",
  "lyceum.config.ts",
  "lyceum.config.json",
];

/** Name and slug of a project: those of its config file, else of `package.json`, else of the folder. */
export async function readProject(root: string): Promise<Project> {
  const [config, other] = CONFIG_FILES.map((name) => join(root, name)).filter(existsSync);
  if (other) throw new Error(`there are two config files, '${config}' and '${other}'; keep one`);
  const manifest = join(root, "package.json");
  const settings = config ? await read(config) : {};
  const routes = settings.integrations?.customRoutes;
  const folder = join(root, (typeof routes === "object" && routes?.directory) || ROUTES);
  const fullName = [
    settings.name,
    existsSync(manifest) && (await read(manifest)).name,
    basename(root),
  ].find((name) => typeof name === "string" && name !== "") as string;
  const name = fullName.replace(/^@[^/]*\//, "");
  return {
    name,
    slug: slugOf(name),
    ...(routes !== false && existsSync(folder) && { routes: folder }),
    ...(config && { config, changedMs: statSync(config).mtimeMs }),
  };
}

/** Where a backend's routes are unless the config says otherwise. */
export const ROUTES = "server/api";

/** What of a config or manifest is read here. */
interface Said {
  name?: unknown;
  integrations?: { customRoutes?: boolean | null | { directory?: string } };
}

async function read(file: string): Promise<Said> {
  if (file.endsWith(".json")) return JSON.parse(readFileSync(file, "utf8")) as Said;
  // As Vite reads its own config: TypeScript too, and again after a change.
  const env = { command: "serve", mode: "development" } as const;
  const loaded = await loadConfigFromFile(env, file, dirname(file), "silent");
  return (loaded?.config ?? {}) as Said;
}

/**
 * The name in addresses, as the server makes it: small letters without their accents and digits, single
 * dashes between.
 */
export function slugOf(name: string): string {
  const dashed = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-/, "");
  const slug = dashed.slice(0, SLUG_MAX_CHARACTERS).replace(/-$/, "");
  if (!slug) throw new Error(`no address can be derived from the name '${name}'; use letters or digits`);
  return slug;
}
