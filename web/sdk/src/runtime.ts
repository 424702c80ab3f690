import type { Embedding, EmbeddingEvents, GameMessages } from "./embedding.js";

/** What the page that embeds the game says, and what the game says to it; silent where nobody embeds it. */
export class Runtime {
  constructor(private readonly embedding: Embedding | undefined) {}

  /** Whether a page embeds the game. */
  get isEmbedded(): boolean {
    return this.embedding !== undefined;
  }

  /** Listens to the embedding page; the answer stops it. */
  on<Name extends keyof EmbeddingEvents>(name: Name, listener: (payload: EmbeddingEvents[Name]) => void): () => void {
    return this.embedding?.on(name, listener) ?? (() => {});
  }

  /** The game can be played. */
  ready(): void {
    this.#tell("LYCEUM_READY", undefined);
  }

  /** The player wants to leave. */
  exit(): void {
    this.#tell("LYCEUM_EXIT", undefined);
  }

  /** How the game runs: frames a second, memory in MiB. */
  telemetry(fps: number, mem: number): void {
    this.#tell("LYCEUM_TELEMETRY", { fps, mem });
  }

  /** Shows the player a message above the game. */
  alert(message: string, type: GameMessages["LYCEUM_DISPLAY_ALERT"]["type"] = "info"): void {
    this.#tell("LYCEUM_DISPLAY_ALERT", { message, type });
  }

  /** Hands keys on to the embedding page, which hears none while the game has the focus; the answer stops it. */
  forwardKeys(keys: readonly string[]): () => void {
    const stop = new AbortController();
    for (const type of ["keydown", "keyup"] as const) {
      const hear = ({ key, code }: KeyboardEvent) => {
        if (keys.includes(key)) this.#tell("LYCEUM_KEY_EVENT", { key, code, type });
      };
      globalThis.addEventListener?.(type, hear as EventListener, { signal: stop.signal });
    }
    return () => stop.abort();
  }

  /** Hears and says no more. */
  close(): void {
    this.embedding?.close();
  }

  #tell<Type extends keyof GameMessages>(type: Type, payload: GameMessages[Type]): void {
    this.embedding?.tell(type, payload);
  }
}
