import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";

import { first, zip } from "./zip.js";
import type { Entry } from "./zip.js";

const MANIFEST = "lyceum.manifest.json";

/** What came of packing. */
export interface Packed {
  path: string;
  bytes: number;
  /** Whether the build differs from the one that was packed before. */
  changed: boolean;
}

/**
 * Packs the output of a build into an archive with `lyceum.manifest.json`. A build that is the same as
 * the packed one leaves the archive as it is, with its date, so that nothing looks changed.
 */
export function pack(outDir: string, path: string, now: Date): Packed {
  const files = filesIn(outDir)
    .map((file): Entry => ({ name: relative(outDir, file).split(sep).join("/"), bytes: readFileSync(file) }))
    .filter(({ name }) => name !== MANIFEST)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const packed = (createdAt: string) => {
    const manifest = JSON.stringify({ version: "1", platform: "web", createdAt }, undefined, 2);
    return zip([{ name: MANIFEST, bytes: Buffer.from(`${manifest}\n`) }, ...files]);
  };
  const former = existsSync(path) ? readFileSync(path) : undefined;
  if (former && packed(dateOf(former)).equals(former)) return { path, bytes: former.length, changed: false };
  const archive = packed(now.toISOString());
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.new`, archive);
  renameSync(`${path}.new`, path);
  return { path, bytes: archive.length, changed: true };
}

function dateOf(archive: Buffer): string {
  try {
    return (JSON.parse(first(archive).toString()) as { createdAt: string }).createdAt;
  } catch {
    return "";
  }
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
