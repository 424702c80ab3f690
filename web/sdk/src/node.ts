import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import type { QueueStorage } from "./storage.js";

/**
 * Writes wait in a folder, a file each; a folder belongs to one program at a time. For games whose
 * server side is Node: `new Client({ storage: fileStorage(".lyceum/queue"), … })`.
 */
export function fileStorage(folder: string): QueueStorage {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = (key: string) => join(folder, `${encodeURIComponent(key)}.json`);
  return {
    durable: true,
    keys: (prefix) =>
      readdirSync(folder)
        .filter((name) => name.endsWith(".json"))
        .map((name) => decodeURIComponent(name.slice(0, -".json".length)))
        .filter((key) => key.startsWith(prefix)),
    get(key) {
      try {
        return readFileSync(file(key), "utf8");
      } catch {
        return null;
      }
    },
    set(key, text) {
      // Renamed when it is on the disk: a crash leaves the whole file or none.
      const temporary = `${file(key)}.new`;
      const handle = openSync(temporary, "w", 0o600);
      writeFileSync(handle, text);
      fsyncSync(handle);
      closeSync(handle);
      renameSync(temporary, file(key));
    },
    remove: (key) => rmSync(file(key), { force: true }),
  };
}
