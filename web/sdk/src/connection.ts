import { Emitter } from "./emitter.js";

/** How often the server is asked whether it is there, in milliseconds. */
export const PING_INTERVAL_MS = 10_000;
/** After how many pings without an answer the connection counts as lost. */
export const PINGS_UNTIL_OFFLINE = 2;

export type ConnectionState = "online" | "offline";

/** Watches whether the server can be reached. */
export class ConnectionMonitor extends Emitter<{ change: ConnectionState }> {
  #state: ConnectionState = "online";
  #failures = 0;
  #timer: ReturnType<typeof setInterval> | undefined;
  readonly #look = () => void this.check();

  /** `ping` answers whether there was an answer. */
  constructor(private readonly ping: () => Promise<boolean>) {
    super();
  }

  get state(): ConnectionState {
    return this.#state;
  }

  start(): void {
    this.#timer = setInterval(this.#look, PING_INTERVAL_MS);
    if (typeof this.#timer === "object") (this.#timer as { unref(): void }).unref();
    globalThis.addEventListener?.("online", this.#look);
    globalThis.addEventListener?.("offline", this.#look);
  }

  stop(): void {
    clearInterval(this.#timer);
    globalThis.removeEventListener?.("online", this.#look);
    globalThis.removeEventListener?.("offline", this.#look);
  }

  /** Asks the server now. */
  async check(): Promise<ConnectionState> {
    const answered = await this.ping();
    this.#failures = answered ? 0 : this.#failures + 1;
    if (answered || this.#failures >= PINGS_UNTIL_OFFLINE) this.#become(answered ? "online" : "offline");
    return this.#state;
  }

  #become(state: ConnectionState): void {
    if (state === this.#state) return;
    this.#state = state;
    this.emit("change", state);
  }
}
