/** A world that stands still until a test moves it. */
export class World {
  time = Date.parse("2026-03-02T09:00:00Z");
  timers = [];
  ids = 0;
  random = () => 1;
  now = () => this.time;
  elapsed = () => this.time;
  uuid = () => `key-${++this.ids}`;
  lock = (_name, work) => work();
  channel = () => undefined;

  later(ms, work) {
    const timer = { at: this.time + ms, work };
    this.timers.push(timer);
    return () => this.timers.splice(this.timers.indexOf(timer) >>> 0, 1);
  }

  every(ms, work) {
    const timer = { at: this.time + ms, work, ms };
    this.timers.push(timer);
    return () => this.timers.splice(this.timers.indexOf(timer) >>> 0, 1);
  }

  watch(signals) {
    this.signals = signals;
    return () => (this.signals = undefined);
  }

  /** Lets time pass, with what was to happen in it. */
  async pass(ms) {
    const end = this.time + ms;
    for (;;) {
      const next = this.timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.time = Math.max(this.time, next.at);
      if (next.ms) next.at += next.ms;
      else this.timers.splice(this.timers.indexOf(next), 1);
      next.work();
      await settled();
    }
    this.time = end;
    await settled();
  }
}

/** Resolves when all that can happen without time passing has happened. */
export const settled = () => new Promise((resolve) => setImmediate(resolve));
