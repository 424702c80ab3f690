import { Emitter } from "./emitter.js";
import { SetupError } from "./errors.js";

/** How long a game waits for `LYCEUM_INIT`, in milliseconds. */
export const INIT_TIMEOUT_MS = 5_000;

/** How often a game asks for `LYCEUM_INIT`, in milliseconds. */
const ASK_EVERY_MS = 250;

/** How long the embedding page may take to get a new token, in milliseconds. */
const TOKEN_TIMEOUT_MS = 20_000;

/**
 * How a game is played: `platform`, by somebody who is signed in on a page that embeds it; `demo`, by an
 * anonymous visitor of such a page; `standalone`, at the game's own address.
 */
export type Mode = "platform" | "demo" | "standalone";

/** What a game needs to reach its server. */
export interface Connection {
  baseUrl: string;
  token: string;
  /** When the token ends, in seconds since 1970. */
  exp?: number;
  gameId?: string;
  mode?: Mode;
}

/** What the embedding page tells the game. */
export interface EmbeddingEvents {
  LYCEUM_INIT: Connection;
  /** A new token; `exp` in seconds since 1970. */
  LYCEUM_TOKEN_REFRESH: { token: string; exp?: number };
  LYCEUM_PAUSE: undefined;
  LYCEUM_RESUME: undefined;
  /** The game is about to be removed: save what must be saved. */
  LYCEUM_FORCE_EXIT: undefined;
  /** Whether something lies over the game. */
  LYCEUM_OVERLAY: boolean;
  LYCEUM_CONNECTION_STATE: { state: "online" | "offline"; reason?: string };
}

/** What the game tells the embedding page. */
export interface GameMessages {
  /** The game asks for the greeting: once it has loaded, until it comes. */
  LYCEUM_HELLO: undefined;
  /** The game's token was refused: it needs a new one. */
  LYCEUM_TOKEN_REQUEST: undefined;
  LYCEUM_READY: undefined;
  LYCEUM_EXIT: undefined;
  LYCEUM_TELEMETRY: { fps: number; mem: number };
  LYCEUM_KEY_EVENT: { key: string; code: string; type: "keydown" | "keyup" };
  LYCEUM_DISPLAY_ALERT: { message: string; type: "info" | "warning" | "error" };
}

const FROM_PAGE = [
  "LYCEUM_INIT",
  "LYCEUM_TOKEN_REFRESH",
  "LYCEUM_PAUSE",
  "LYCEUM_RESUME",
  "LYCEUM_FORCE_EXIT",
  "LYCEUM_OVERLAY",
  "LYCEUM_CONNECTION_STATE",
] as const;

/** A message between the windows: `{type, payload}`. */
interface Message {
  type: keyof EmbeddingEvents;
  payload?: unknown;
}

const isFramed = typeof window !== "undefined" && window.parent !== window;
// The page may greet before the game asks for the greeting.
const greetings: MessageEvent[] = [];
const keepGreeting = (event: MessageEvent) => {
  if ((event.data as Message | null)?.type === "LYCEUM_INIT") greetings.push(event);
};
if (isFramed) window.addEventListener("message", keepGreeting);

/**
 * The page that shows the game in a frame. Only messages of the parent window from an origin that is
 * allowed count: by default that is the origin that the browser names as the frame's parent.
 */
export class Embedding extends Emitter<EmbeddingEvents> {
  readonly #origins: readonly string[];
  #origin: string | undefined;
  readonly #hear = (event: MessageEvent) => this.#receive(event);

  constructor(origins?: readonly string[]) {
    super();
    this.#origins = origins ?? parentOrigins();
    window.addEventListener("message", this.#hear);
  }

  /** Whether this page is shown in a frame. */
  static get isFramed(): boolean {
    return isFramed;
  }

  /** Asks for `LYCEUM_INIT` and waits for it. Throws {@link SetupError} when it does not come. */
  greeting(timeoutMs = INIT_TIMEOUT_MS): Promise<Connection> {
    return new Promise((resolve, reject) => {
      // The page may load later than the game, or hear nothing until its frame has loaded.
      const asks = setInterval(() => this.#ask(), ASK_EVERY_MS);
      const timer = setTimeout(() => {
        clearInterval(asks);
        const origins = this.#origins.join(", ") || "none";
        const why = `no LYCEUM_INIT came within ${timeoutMs} ms from the page that embeds this game (allowed origins: ${origins})`;
        reject(
          new SetupError(
            `${why}; let that page post {type: "LYCEUM_INIT", payload: {baseUrl, token, gameId}}, or pass baseUrl and token`,
          ),
        );
      }, timeoutMs);
      this.on("LYCEUM_INIT", (connection) => {
        clearTimeout(timer);
        clearInterval(asks);
        resolve(connection);
      });
      for (const event of greetings.splice(0)) this.#receive(event);
      this.#ask();
    });
  }

  /** Asks the embedding page for a new token. Throws where none comes. */
  newToken(): Promise<string> {
    return new Promise((resolve, reject) => {
      const late = () => reject(new SetupError(`no LYCEUM_TOKEN_REFRESH came within ${TOKEN_TIMEOUT_MS} ms`));
      const timer = setTimeout(late, TOKEN_TIMEOUT_MS);
      const stop = this.on("LYCEUM_TOKEN_REFRESH", ({ token }) => {
        clearTimeout(timer);
        stop();
        resolve(token);
      });
      this.tell("LYCEUM_TOKEN_REQUEST", undefined);
    });
  }

  /** Tells the embedding page something; nothing before its greeting. */
  tell<Type extends keyof GameMessages>(type: Type, payload: GameMessages[Type]): void {
    if (this.#origin !== undefined) window.parent.postMessage({ type, payload }, this.#origin);
  }

  close(): void {
    window.removeEventListener("message", this.#hear);
  }

  #ask(): void {
    if (this.#origin !== undefined) return;
    for (const origin of this.#origins) window.parent.postMessage({ type: "LYCEUM_HELLO" }, origin);
  }

  #receive(event: MessageEvent): void {
    const { type, payload } = (event.data ?? {}) as Message;
    if (event.source !== window.parent || !FROM_PAGE.includes(type)) return;
    if (this.#origin === undefined ? !this.#origins.includes(event.origin) : event.origin !== this.#origin) return;
    if (type === "LYCEUM_INIT") {
      if (!isConnection(payload)) return;
      this.#origin = event.origin;
    }
    // Before the greeting nobody knows who speaks.
    if (this.#origin !== undefined) this.emit(type, payload as never);
  }
}

function isConnection(payload: unknown): payload is Connection {
  const { baseUrl, token } = (payload ?? {}) as Partial<Connection>;
  return typeof baseUrl === "string" && typeof token === "string" && token !== "";
}

/** The origin of the page that embeds this one, as the browser tells it. */
function parentOrigins(): string[] {
  const ancestors = (window.location as { ancestorOrigins?: DOMStringList }).ancestorOrigins;
  const origin = ancestors?.[0] ?? document.referrer;
  return origin ? [new URL(origin).origin] : [];
}
