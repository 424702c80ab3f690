/** What time tracking needs of the world: clocks, timers, and what happens on the page. */
export interface PageEnvironment {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds of a clock that never goes back. */
  elapsed(): number;
  /** Runs the work again and again; the answer stops that. */
  every(ms: number, work: () => void): () => void;
  /** Listens to the page; the answer stops that. */
  watch(heard: PageSignals): () => void;
}

/** What happens on a page. */
export interface PageSignals {
  /** The learner does something. */
  input(): void;
  /** The page comes into sight or goes out of it. */
  seen(visible: boolean): void;
  /** The page is left: the last moment to send something. */
  left(): void;
}

const INPUTS = ["pointerdown", "pointermove", "keydown", "wheel", "touchstart", "touchmove", "scroll"] as const;

/** The page as it is, with the clock that counts; outside of browsers nothing happens on it. */
export function realPage(now: () => number): PageEnvironment {
  return {
    now,
    elapsed: () => performance.now(),
    every(ms, work) {
      const timer = setInterval(work, ms);
      if (typeof timer === "object") (timer as { unref(): void }).unref();
      return () => clearInterval(timer);
    },
    watch(signals) {
      if (typeof document === "undefined") return () => {};
      const stop = new AbortController();
      const passive = { signal: stop.signal, passive: true, capture: true };
      for (const name of INPUTS) window.addEventListener(name, () => signals.input(), passive);
      const seen = () => signals.seen(document.visibilityState === "visible");
      document.addEventListener("visibilitychange", seen, { signal: stop.signal });
      window.addEventListener("pagehide", () => signals.left(), { signal: stop.signal });
      seen();
      return () => stop.abort();
    },
  };
}
