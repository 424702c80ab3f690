import { Emitter } from "./emitter.js";
import { SetupError } from "./errors.js";

/** How long a game waits for `LYCEUM_INIT`, in milliseconds. */
export const INIT_TIMEOUT_MS = 5_000;

/** What a game needs to reach its server. */
export interface Connection {
  baseUrl: string;
  token: string;
  gameId?: string;
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

  /** Waits for `LYCEUM_INIT`. Throws {@link SetupError} when it does not come. */
  greeting(timeoutMs = INIT_TIMEOUT_MS): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
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
        resolve(connection);
      });
      for (const event of greetings.splice(0)) this.#receive(event);
    });
  }

  /** Tells the embedding page something; nothing before its greeting. */
  tell<Type extends keyof GameMessages>(type: Type, payload: GameMessages[Type]): void {
    if (this.#origin !== undefined) window.parent.postMessage({ type, payload }, this.#origin);
  }

  close(): void {
    window.removeEventListener("message", this.#hear);
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
  const told = ancestors?.[0] ?? document.referrer;
  return told ? [new URL(told).origin] : [];
}
