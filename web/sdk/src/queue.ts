import { Emitter } from "./emitter.js";
import { ApiError, QueueFullError, SetupError } from "./errors.js";
import type { QueueStorage } from "./storage.js";

/** A write as it waits. */
export interface QueuedWrite {
  /** Its `Idempotency-Key`: however often it is sent, it counts once. */
  key: string;
  method: "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  body: unknown;
  /** When it was made, ISO 8601. */
  at: string;
  /** Of a PUT: that it was sent, and may have arrived. */
  tried?: true;
}

/** A write that the server refused when nobody waited for its answer any more. */
export interface RefusedWrite extends QueuedWrite {
  refusal: { status: number; code: string; message: string; details?: unknown };
}

/** What became of a write: the server's answer, or that it waits and will be sent later. */
export type Written<T> = (T & { queued: false }) | { queued: true; key: string; reason: Error };

export interface QueueEvents {
  /** A write has reached the server. */
  delivered: QueuedWrite;
  /** A write waits, and why. */
  waiting: { write: QueuedWrite; reason: Error };
  /** The server will never take a write; it is kept in {@link Queue.refused}. */
  refused: RefusedWrite;
}

/** What a queue needs of the world. */
export interface QueueEnvironment {
  now(): number;
  /** From 0 to 1. */
  random(): number;
  uuid(): string;
  /** Runs the work later; the answer forgets it. */
  later(ms: number, work: () => void): () => void;
  /** Runs the work while no other tab does. */
  lock<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Joins what all tabs hear; none where there are no others. */
  channel(name: string): BroadcastChannel | undefined;
}

/** How many writes can wait. */
export const QUEUE_MAX_WRITES = 5_000;
/** How much can wait, in characters: less than the 5 MiB that browsers give. */
export const QUEUE_MAX_CHARACTERS = 4_000_000;
/** How many refused writes are kept to be looked at. */
export const REFUSED_MAX_WRITES = 100;
const FIRST_DELAY_MS = 1_000;
const LAST_DELAY_MS = 60_000;

type Outcome = { key: string; answer: unknown } | { key: string; refusal: RefusedWrite["refusal"] };
type Waiter = { resolve(written: Written<object>): void; reject(error: Error): void };

/**
 * Writes on their way to the server, in the order in which they were made. A write is stored before
 * it is sent and forgotten when the server has answered it; what fails for a while is sent again.
 * No write is sent in another way: sending directly and storing only failures would lose writes in a
 * crash. `Idempotency-Key` makes repetitions harmless, so the queue sends again whenever it is in doubt.
 * Server, game and the token's subject name a queue, so learners of one device do not send each other's
 * work. Saved states form a chain, in which each expects the version that the one before will create.
 */
export class Queue extends Emitter<QueueEvents> {
  readonly #waiters = new Map<string, Waiter>();
  readonly #prefix: string;
  readonly #refusedPrefix: string;
  readonly #channel: BroadcastChannel | undefined;
  #run: Promise<void> | undefined;
  #again = false;
  #failures = 0;
  #notBefore = 0;
  #reason: Error | undefined;
  #cancelRetry: (() => void) | undefined;
  #last = 0;
  #closed = false;

  constructor(
    private readonly storage: QueueStorage,
    name: string,
    private readonly send: (write: QueuedWrite, keepalive: boolean) => Promise<unknown>,
    private readonly world: QueueEnvironment,
  ) {
    super();
    this.#prefix = `lyceum:queue:${name}:`;
    this.#refusedPrefix = `lyceum:refused:${name}:`;
    this.#channel = world.channel(this.#prefix);
    if (this.#channel) this.#channel.onmessage = ({ data }) => this.#settle(data as Outcome);
  }

  /** Whether waiting writes outlast the program. */
  get durable(): boolean {
    return this.storage.durable;
  }

  /** What waits, the oldest first. */
  pending(): QueuedWrite[] {
    return this.#stored().map(([, write]) => write);
  }

  /** What the server refused and nobody has looked at: fix it and send it again, then {@link discard} it. */
  refused(): RefusedWrite[] {
    return this.#list<RefusedWrite>(this.#refusedPrefix).map(([, write]) => write);
  }

  /** Forgets a refused write. */
  discard(key: string): void {
    for (const [place, write] of this.#list<RefusedWrite>(this.#refusedPrefix)) {
      if (write.key === key) this.storage.remove(place);
    }
  }

  /** A PUT to the path that waits and was never sent: a later one can take its place. */
  untried(path: string): QueuedWrite | undefined {
    return this.pending()
      .filter((write) => write.method === "PUT" && write.path === path && !write.tried)
      .at(-1);
  }

  /**
   * Stores a write, in the place of one that was never sent where that is named, and sends all that
   * wait. Throws {@link QueueFullError}, {@link ApiError}.
   */
  async push<T extends object>(
    method: QueuedWrite["method"],
    path: string,
    body: unknown,
    replaces?: QueuedWrite,
  ): Promise<Written<T>> {
    const [, write] = this.#store(method, path, body, replaces);
    const settled = new Promise<Written<object>>((resolve, reject) => {
      this.#waiters.set(write.key, { resolve, reject });
    });
    this.#again = true;
    void this.#start(false);
    return settled as Promise<Written<T>>;
  }

  /**
   * Stores a write and sends it in such a way that it outlives the page. Where the answer comes too
   * late, the next visit sends it again: it counts once.
   */
  beacon(method: QueuedWrite["method"], path: string, body: unknown): void {
    const [place, write] = this.#store(method, path, body);
    this.send(write, true).then(
      () => this.storage.remove(place),
      () => void this.#start(false),
    );
  }

  #store(method: QueuedWrite["method"], path: string, body: unknown, replaces?: QueuedWrite): [string, QueuedWrite] {
    const now = this.world.now();
    const write: QueuedWrite = { key: this.world.uuid(), method, path, body, at: new Date(now).toISOString() };
    const text = JSON.stringify(write);
    const former = replaces ? this.#stored().find(([, { key }]) => key === replaces.key) : undefined;
    const places = this.storage.keys(this.#prefix).filter((place) => place !== former?.[0]);
    const characters = places.reduce((sum, place) => sum + (this.storage.get(place)?.length ?? 0), text.length);
    if (places.length >= QUEUE_MAX_WRITES || characters > QUEUE_MAX_CHARACTERS) throw full(places.length);
    try {
      const place = this.#place(now, places, write.key);
      // Removed first, for both may not fit, and put back where the new one does not.
      if (former) this.storage.remove(former[0]);
      try {
        this.storage.set(place, text);
      } catch (cause) {
        if (former) this.storage.set(former[0], JSON.stringify(former[1]));
        throw cause;
      }
      if (former) this.#forget(former[1], new Error("a later write has taken its place"));
      return [place, write];
    } catch (cause) {
      throw full(places.length, cause);
    }
  }

  /** Sends what waits, now. Resolves when nothing waits or the server cannot be reached. */
  flush(): Promise<void> {
    return this.#start(true);
  }

  /** Stops sending; what waits stays stored. */
  close(): void {
    this.#closed = true;
    this.#cancelRetry?.();
    this.#channel?.close();
  }

  #start(now: boolean): Promise<void> {
    if (this.#closed) {
      this.#putOff(new SetupError("this client is closed; what waits is sent by the next one"));
      return Promise.resolve();
    }
    if (this.#run) return this.#run;
    // Retry-After binds everybody; what this queue chose itself gives way to a wish.
    const bound = this.#reason instanceof ApiError && this.#reason.retryAfterMs !== undefined;
    if (this.world.now() < this.#notBefore && (bound || !now)) {
      this.#putOff(this.#reason ?? new Error("waiting"));
      return Promise.resolve();
    }
    this.#cancelRetry?.();
    this.#run = this.world
      .lock(this.#prefix, () => this.#drain())
      .finally(() => {
        this.#run = undefined;
        if (this.#again) void this.#start(false);
      });
    return this.#run;
  }

  /** Sends what is stored until there is nothing or the server cannot be reached. */
  async #drain(): Promise<void> {
    for (;;) {
      this.#again = false;
      const batch = this.#stored();
      if (batch.length === 0) return;
      for (const [place, write] of batch) {
        if (this.#closed) return;
        // Another tab of a browser without locks may have been quicker.
        if (this.storage.get(place) === null) continue;
        try {
          if (write.method === "PUT") this.storage.set(place, JSON.stringify({ ...write, tried: true }));
          const answer = await this.send(write, false);
          this.storage.remove(place);
          this.#failures = 0;
          this.#notBefore = 0;
          this.emit("delivered", write);
          this.#publish({ key: write.key, answer });
        } catch (error) {
          if (staysQueued(error)) return this.#wait(error as Error);
          this.#refuse(place, write, error as ApiError);
        }
      }
    }
  }

  #wait(reason: Error): void {
    const backOff = Math.min(LAST_DELAY_MS, FIRST_DELAY_MS * 2 ** this.#failures) * (0.5 + this.world.random() / 2);
    const retryAfterMs = reason instanceof ApiError ? (reason.retryAfterMs ?? 0) : 0;
    const delay = Math.max(retryAfterMs, backOff);
    this.#failures = Math.min(this.#failures + 1, 10);
    this.#notBefore = this.world.now() + delay;
    this.#reason = reason;
    this.#cancelRetry?.();
    this.#cancelRetry = this.world.later(delay, () => void this.#start(true));
    this.#putOff(reason);
  }

  /** Tells the callers that wait for an answer that there is none yet. */
  #putOff(reason: Error): void {
    this.#again = false;
    for (const [, write] of this.#stored()) {
      if (this.#forget(write, reason)) this.emit("waiting", { write, reason });
    }
  }

  /** Tells the caller that waits for an answer that there is none yet. Returns whether a caller waited. */
  #forget({ key }: QueuedWrite, reason: Error): boolean {
    const waiter = this.#waiters.get(key);
    this.#waiters.delete(key);
    waiter?.resolve({ queued: true, key, reason });
    return waiter !== undefined;
  }

  #refuse(place: string, write: QueuedWrite, error: ApiError): void {
    const { status, code, message, details } = error;
    const refusal = { status, code, message, details };
    // Kept first and removed then: a crash between leaves it twice, not never.
    const refusedKeys = this.storage.keys(this.#refusedPrefix).sort();
    for (const old of refusedKeys.slice(0, Math.max(0, refusedKeys.length + 1 - REFUSED_MAX_WRITES))) this.storage.remove(old);
    const refused: RefusedWrite = { ...write, refusal };
    if (!this.#waiters.has(write.key)) {
      this.storage.set(place.replace(this.#prefix, this.#refusedPrefix), JSON.stringify(refused));
    }
    this.storage.remove(place);
    const waiter = this.#waiters.get(write.key);
    this.#waiters.delete(write.key);
    if (waiter) waiter.reject(error);
    else this.emit("refused", refused);
    this.#channel?.postMessage({ key: write.key, refusal } satisfies Outcome);
  }

  #publish(outcome: Outcome): void {
    if (this.#waiters.has(outcome.key)) this.#settle(outcome);
    else this.#channel?.postMessage(outcome);
  }

  /** Hands the outcome of a write to whoever waits for it in this tab. */
  #settle(outcome: Outcome): void {
    const waiter = this.#waiters.get(outcome.key);
    if (!waiter) return;
    this.#waiters.delete(outcome.key);
    if ("refusal" in outcome) {
      this.discard(outcome.key);
      const { status, code, message, details } = outcome.refusal;
      waiter.reject(new ApiError(status, code, message, details));
    } else {
      waiter.resolve({ ...(outcome.answer as object), queued: false });
    }
  }

  #stored(): [string, QueuedWrite][] {
    return this.#list<QueuedWrite>(this.#prefix);
  }

  #list<W>(prefix: string): [string, W][] {
    const found: [string, W][] = [];
    for (const place of this.storage.keys(prefix).sort()) {
      const text = this.storage.get(place);
      if (text !== null) found.push([place, JSON.parse(text) as W]);
    }
    return found;
  }

  /** Places sort in the order of writes, also where the clock was set back. */
  #place(now: number, places: string[], key: string): string {
    const stored = places.map((place) => Number(place.slice(this.#prefix.length).split("-", 1)[0]));
    this.#last = Math.max(now, this.#last + 1, maximum(stored) + 1);
    return `${this.#prefix}${String(this.#last).padStart(16, "0")}-${key}`;
  }
}

/** Whether a failure is no fault of the write; an expired token is none. */
const staysQueued = (error: unknown): boolean =>
  !(error instanceof ApiError) || error.retryable || error.status === 401;

const maximum = (numbers: number[]): number => numbers.reduce((most, number) => Math.max(most, number), 0);

function full(count: number, cause?: unknown): QueueFullError {
  const message = `${count} writes wait and there is no room for another; bring the server within reach, then call queue.flush()`;
  return new QueueFullError(message, { cause });
}

/** The world as it is: clock, timers, the browser's locks and channels where there are any. */
export function realWorld(): QueueEnvironment {
  const locks = globalThis.navigator?.locks as LockManager | undefined;
  const isBrowser = typeof window !== "undefined";
  return {
    now: () => Date.now(),
    random: () => Math.random(),
    uuid: randomUuid,
    later(ms, work) {
      const timer = setTimeout(work, ms);
      // In Node a retry that is far off keeps no program alive.
      if (typeof timer === "object") (timer as { unref(): void }).unref();
      return () => clearTimeout(timer);
    },
    lock: (name, work) => (isBrowser && locks ? locked(locks, name, work) : work()),
    channel: (name) => (isBrowser && "BroadcastChannel" in window ? new BroadcastChannel(name) : undefined),
  };
}

/**
 * Works while no other tab does. A browser that denies a frame its storage denies it locks, too; then no other
 * tab shares what is stored.
 */
async function locked<T>(locks: LockManager, name: string, work: () => Promise<T>): Promise<T> {
  let hasStarted = false;
  const begin = () => {
    hasStarted = true;
    return work();
  };
  try {
    return await (locks.request(name, begin) as Promise<T>);
  } catch (error) {
    if (hasStarted) throw error;
    return work();
  }
}

/** A random UUID (RFC 9562); `crypto.randomUUID` is missing on pages that came without TLS. */
export function randomUuid(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
