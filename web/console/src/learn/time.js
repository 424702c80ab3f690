// The time of a lesson with a time limit. The server decides by its own clock; this shows what it said.
import { plural, t } from "../language.js";
import { part } from "./part.js";

const MINUTE_MS = 60_000;
/** When the time that is left is announced, besides half of the whole time. */
const ANNOUNCED_MS = [5 * MINUTE_MS, MINUTE_MS];

/** A time in words: in minutes, and below two minutes in seconds. */
export function inWords(ms) {
  if (ms >= 2 * MINUTE_MS) return plural(Math.ceil(ms / MINUTE_MS), "{n} minute", "{n} minutes");
  return plural(Math.ceil(ms / 1000), "{n} second", "{n} seconds");
}

/** Shows the time that is left, announces it a few times, and says when it is over. */
export class TimeLeft {
  #over;
  #shown = part("p", { class: "time-left", role: "timer" });
  #announced = part("p", { class: "visually-hidden", role: "status" });
  #timer;
  #isTicking = false;
  /** When the time is over by `performance.now()`, which may stop while the device sleeps, and by `Date.now()`, which people
   * can change. The earlier one counts. */
  #end = { steady: 0, wall: 0 };
  #limit = 0;
  #next = [];

  /** @param {HTMLElement} before the element before which it is shown @param {() => void} over called when the time that runs
   * is over */
  constructor(before, over) {
    this.#over = over;
    before.before(this.#shown, this.#announced);
    this.hide();
  }

  /** Shows the time of an attempt, as the server described it. */
  show(time) {
    const isSame = this.#timer !== undefined && this.#limit === time.limitMs;
    this.#end = { steady: performance.now() + time.leftMs, wall: Date.now() + time.leftMs };
    this.#limit = time.limitMs;
    this.#shown.hidden = false;
    if (!isSame) {
      this.#next = [time.limitMs / 2, ...ANNOUNCED_MS].filter((ms) => ms < time.leftMs).sort((a, b) => b - a);
      this.#announce(t("You have {time}.", { time: inWords(time.leftMs) }));
    }
    clearInterval(this.#timer);
    this.#timer = setInterval(() => this.check(), 500);
    this.#isTicking = true;
    this.#write();
  }

  hide() {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#isTicking = false;
    this.#shown.hidden = true;
    this.#announced.textContent = "";
  }

  get isOver() {
    return this.#timer !== undefined && this.#leftMs <= 0;
  }

  get #leftMs() {
    return Math.min(this.#end.steady - performance.now(), this.#end.wall - Date.now());
  }

  /** Shows the time that is left now. */
  check() {
    if (!this.#isTicking) return;
    this.#write();
    if (!this.isOver) return;
    clearInterval(this.#timer);
    this.#isTicking = false;
    this.#announce(t("The time is over."));
    this.#over();
  }

  #write() {
    const left = this.#leftMs;
    // Seconds that change all the time would distract.
    const rounded = Math.min(Math.ceil(left / 10_000) * 10_000, this.#limit);
    const text = left > 0 ? t("Time left: {time}", { time: inWords(left > 2 * MINUTE_MS ? left : rounded) }) : t("The time is over.");
    if (this.#shown.textContent !== text) this.#shown.textContent = text;
    if (left > 0 && left <= this.#next[0]) {
      this.#announce(t("{time} left.", { time: inWords(left) }));
      this.#next = this.#next.filter((ms) => ms < left);
    }
  }

  #announce(text) {
    this.#announced.textContent = text;
  }
}
