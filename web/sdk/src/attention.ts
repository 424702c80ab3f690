/** Time that was spent, in milliseconds. */
export interface Spent {
  activeMs: number;
  inactiveMs: number;
}

/**
 * Divides time into active and inactive. Active is time in which the page is seen and the learner has
 * done something within the idle time; while the clock stands (a pause) it counts neither.
 *
 * All times are milliseconds of one clock that never goes back.
 */
export class AttentionClock {
  #last: number;
  #lastInput: number;
  #visible = true;
  #stands = false;
  #spent: Spent = { activeMs: 0, inactiveMs: 0 };

  constructor(
    now: number,
    /** For how long a learner who does nothing counts as active. */
    private readonly idleAfterMs: number,
    /** A gap between two looks at the clock that is longer than this was sleep of the machine. */
    private readonly sleepAfterMs: number,
  ) {
    this.#last = now;
    this.#lastInput = now;
  }

  /** The learner does something. */
  input(now: number): void {
    this.#advance(now);
    this.#lastInput = now;
  }

  /** The page comes into sight, which is the learner's doing, or goes out of it. */
  see(now: number, visible: boolean): void {
    this.#advance(now);
    if (visible && !this.#visible) this.#lastInput = now;
    this.#visible = visible;
  }

  /** The clock stands. */
  pause(now: number): void {
    this.#advance(now);
    this.#stands = true;
  }

  /** The clock goes on. */
  resume(now: number): void {
    this.#advance(now);
    if (this.#stands) this.#lastInput = now;
    this.#stands = false;
  }

  /** What was spent since this was asked last. */
  take(now: number): Spent {
    this.#advance(now);
    const spent = this.#spent;
    this.#spent = { activeMs: 0, inactiveMs: 0 };
    return spent;
  }

  #advance(now: number): void {
    const from = this.#last;
    const passed = now - from;
    this.#last = now;
    if (passed <= 0 || passed > this.sleepAfterMs || this.#stands) return;
    const activeUntil = this.#visible ? this.#lastInput + this.idleAfterMs : from;
    const active = Math.min(Math.max(activeUntil - from, 0), passed);
    this.#spent.activeMs += active;
    this.#spent.inactiveMs += passed - active;
  }
}
