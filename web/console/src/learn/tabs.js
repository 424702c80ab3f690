// Several tabs may show one lesson. Before one of them hands in the answers, the others store what they show. After that, all
// show the result.

/** A tab that does not answer within this time, because the browser has frozen it, is not waited for. */
const ANSWER_MAX_MS = 2_000;

export class LessonTabs {
  #name;
  #channel;
  #listeners;
  #stored = () => {};

  /**
   * @param {string} lesson
   * @param {{ store(isTimeOver: boolean): Promise<void>, finished(): void }} listeners what this tab does before another one hands
   * in the answers, and after that
   */
  constructor(lesson, listeners) {
    this.#name = `lyceum-lesson:${lesson}`;
    this.#listeners = listeners;
    this.#channel = new BroadcastChannel(this.#name);
    this.#channel.addEventListener("message", ({ data }) => void this.#receive(data));
    // The lock is held as long as the page is open, so that other tabs can count it. Browsers have locks only on encrypted
    // connections.
    void navigator.locks?.request(this.#name, { mode: "shared" }, () => new Promise(() => {}));
  }

  async #receive({ step, request, isTimeOver }) {
    if (step === "stored") this.#stored(request);
    if (step === "finished") this.#listeners.finished();
    if (step === "hand-in") {
      await this.#listeners.store(isTimeOver);
      this.#channel.postMessage({ step: "stored", request });
    }
  }

  async #countOthers() {
    const { held = [] } = (await navigator.locks?.query()) ?? {};
    return held.filter(({ name }) => name === this.#name).length - 1;
  }

  /** Lets the other tabs store what they show, and waits for them. */
  async collect(isTimeOver) {
    let waitingFor = await this.#countOthers();
    if (waitingFor <= 0) return;
    const request = Math.random();
    const stored = new Promise((resolve) => {
      this.#stored = (answered) => {
        if (answered === request) waitingFor -= 1;
        if (waitingFor === 0) resolve();
      };
    });
    this.#channel.postMessage({ step: "hand-in", request, isTimeOver });
    await Promise.race([stored, new Promise((resolve) => setTimeout(resolve, ANSWER_MAX_MS))]);
  }

  /** Says that the attempt is finished. */
  announceFinished() {
    this.#channel.postMessage({ step: "finished" });
  }
}
