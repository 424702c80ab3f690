/** Where writes wait: keys and texts, kept when the program ends. The browser's `localStorage` is one. */
export interface QueueStorage {
  /** Every key that begins so, in any order. */
  keys(prefix: string): string[];
  get(key: string): string | null;
  /** Throws where there is no room. */
  set(key: string, text: string): void;
  remove(key: string): void;
  /** Whether it outlasts the program. */
  readonly durable: boolean;
}

/** The browser's `localStorage`, shared by all tabs; memory where the browser forbids it. */
export function browserStorage(): QueueStorage {
  let local: Storage;
  try {
    local = globalThis.localStorage;
    local.setItem("lyceum:probe", "");
    local.removeItem("lyceum:probe");
  } catch {
    return memoryStorage();
  }
  return {
    durable: true,
    keys: (prefix) => Object.keys(local).filter((key) => key.startsWith(prefix)),
    get: (key) => local.getItem(key),
    set: (key, text) => local.setItem(key, text),
    remove: (key) => local.removeItem(key),
  };
}

/** Memory: what is in it when the program ends is lost. */
export function memoryStorage(): QueueStorage {
  const texts = new Map<string, string>();
  return {
    durable: false,
    keys: (prefix) => [...texts.keys()].filter((key) => key.startsWith(prefix)),
    get: (key) => texts.get(key) ?? null,
    set: (key, text) => void texts.set(key, text),
    remove: (key) => void texts.delete(key),
  };
}
