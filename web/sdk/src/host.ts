import type { Connection } from "./embedding.js";
import { ANSWER_TIMEOUT_MS, read } from "./http.js";
import type { Schemas } from "./schemas.js";

/** Where a host that serves a deployed game tells where its server is. */
const CONNECTION_PATH = "/.well-known/lyceum.json";

/** How long the game's own host may take to tell, in milliseconds. */
const CONNECTION_TIMEOUT_MS = 4_000;

/** What the host of a deployed game tells. */
export interface Host {
  /** The address of the API. */
  baseUrl: string;
  /** The origin of the server, whose page alone embeds the game. */
  server: string;
  gameId: string;
  /** The page on which people sign in and play. */
  play: string;
}

/** Asks the host of this page for its game; undefined if it serves no deployed game. */
export async function askHost(): Promise<Host | undefined> {
  if (typeof location === "undefined" || !location.protocol.startsWith("http")) return undefined;
  try {
    const headers = { accept: "application/json" };
    const answer = await fetch(CONNECTION_PATH, { headers, signal: AbortSignal.timeout(CONNECTION_TIMEOUT_MS) });
    if (!answer.ok || !answer.headers.get("content-type")?.includes("json")) return undefined;
    const host = (await answer.json()) as Partial<Host>;
    return host.baseUrl && host.server && host.gameId ? (host as Host) : undefined;
  } catch {
    return undefined;
  }
}

/** The demo of a deployed game at its own address: an anonymous visitor's tokens. */
export class Demo {
  readonly #key: string;

  constructor(private readonly host: Host) {
    this.#key = `lyceum-demo:${host.gameId}`;
  }

  /** The connection of the visitor, who stays the same as long as the former token is valid. */
  async connection(): Promise<Connection> {
    const { token, exp, gameId } = await this.#token();
    return { baseUrl: this.host.baseUrl, token, exp, gameId, mode: "standalone" };
  }

  /** The next token. */
  async newToken(): Promise<string> {
    return (await this.#token()).token;
  }

  async #token(): Promise<Schemas["GameToken"]> {
    const url = `${this.host.baseUrl}/games/${encodeURIComponent(this.host.gameId)}/demo`;
    const headers: Record<string, string> = { accept: "application/json", "content-type": "application/json" };
    // The server begins a new visitor where the former token is over.
    const former = remembered(this.#key);
    if (former) headers.authorization = `Bearer ${former}`;
    const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    const answer = await fetch(url, { method: "POST", headers, body: "{}", signal });
    const gameToken = await read<Schemas["GameToken"]>(this.host.baseUrl, answer, await answer.text());
    remember(this.#key, gameToken.token);
    return gameToken;
  }
}

/** The tab's storage, where the browser allows one. */
function remembered(key: string): string | null {
  try {
    return sessionStorage.getItem(key);
  } catch {
    return null;
  }
}

function remember(key: string, text: string): void {
  try {
    sessionStorage.setItem(key, text);
  } catch {
    // The next page is another visitor.
  }
}
