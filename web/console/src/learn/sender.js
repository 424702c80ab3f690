// Sends answers. Each one waits in the browser until the server has it, so a lost connection, a closed page and a server
// that starts again lose none; its id makes it count once however often it is sent.
import { LessonApi, Refused, SignedOut, Unreachable } from "./api.js";
import { WaitingAnswers } from "./waiting.js";

const RETRY_MS = 2_000;

export class Sender {
  #api;
  #lesson;
  #listeners;
  #waiting;
  #sending;
  isWaiting = false;

  /**
   * @param {LessonApi} api
   * @param {string} lesson
   * @param {{ waits(count: number, areStored: boolean): void, signedOut(): unknown, refused(error: Refused): unknown }} listeners
   * what the page does when answers wait, the session has ended, or the server refused an answer
   */
  constructor(api, lesson, listeners) {
    this.#api = api;
    this.#lesson = lesson;
    this.#listeners = listeners;
  }

  async open() {
    const { key } = await LessonApi.key();
    this.#waiting = await WaitingAnswers.open(key, this.#lesson);
  }

  /** How many answers wait. */
  async countWaiting() {
    return this.#waiting ? (await this.#waiting.all()).length : 0;
  }

  /** Removes the answers that wait. */
  async forget() {
    await this.#waiting?.removeOwn();
  }

  /** Sends an answer; resolves with the server's reply, which may take until the connection is back. `undefined` if the
   * server refused the answer or the session has ended. */
  async send(answer) {
    await this.#waiting.add(answer);
    for (;;) {
      const replies = await this.#flushOnce();
      if (!replies) return undefined;
      const own = replies.get(answer.id);
      if (own) return own;
      const left = await this.#waiting.all();
      // Another tab or an earlier call sent it: sending it again gets the same reply.
      if (!left.some(({ id }) => id === answer.id)) return this.#again(answer);
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  async #again(answer) {
    if (this.#replies.has(answer.id)) return this.#replies.get(answer.id);
    try {
      return await this.#api.answer(answer);
    } catch (error) {
      if (error instanceof SignedOut) await this.#listeners.signedOut();
      if (!(error instanceof Unreachable)) return undefined;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      return this.#again(answer);
    }
  }

  /** Sends all answers that wait, as soon as the server can be reached. False if it refused one or the session ended. */
  async flush() {
    for (;;) {
      if (!(await this.#flushOnce())) return false;
      if ((await this.#waiting.all()).length === 0) return true;
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  #replies = new Map();

  /** One try. Returns the replies by answer; `undefined` if the server refused one or the session has ended. */
  async #flushOnce() {
    this.#sending ??= this.#try().finally(() => (this.#sending = undefined));
    return this.#sending;
  }

  async #try() {
    try {
      const { sent, refused } = await this.#waiting.send((answer) => this.#api.answer(answer), (error) => error instanceof Refused);
      for (const { answer, reply } of sent) this.#replies.set(answer.id, reply);
      this.#wait(0);
      if (refused.length > 0) {
        // Not awaited: the page may send more answers before it goes on.
        void this.#listeners.refused(refused.at(-1).error);
        return undefined;
      }
      return this.#replies;
    } catch (error) {
      if (error instanceof SignedOut) {
        await this.#listeners.signedOut();
        return undefined;
      }
      if (!(error instanceof Unreachable)) throw error;
      this.#wait(await this.countWaiting());
      return this.#replies;
    }
  }

  #wait(count) {
    if (this.isWaiting || count > 0) this.#listeners.waits(count, this.#waiting.areStored);
    this.isWaiting = count > 0;
  }
}
