// Answers that wait in this browser until the server can be reached. They are sealed with a key that only this session
// has, so nobody who uses the device later can read them, and they are sent only by the session that made them.

const PREFIX = "lyceum-waiting:";
const encoder = new TextEncoder();
const decoder = new TextDecoder();

function toText(bytes) {
  let letters = "";
  // As arguments of one call, the bytes of a file would be too many.
  for (const byte of new Uint8Array(bytes)) letters += String.fromCharCode(byte);
  return btoa(letters);
}
const toBytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

/** Removes everything that waits in this browser, for whichever session. */
export function removeAll() {
  for (const name of Object.keys(localStorage)) if (name.startsWith(PREFIX)) localStorage.removeItem(name);
}

/** The answers of one session to the questions of one lesson that wait, oldest first. */
export class WaitingAnswers {
  #key;
  #name;
  /** Answers that the browser cannot store. They wait as long as the page is open. */
  #unsealed = [];
  #lastWork = Promise.resolve();

  /**
   * Opens the store of a lesson, and removes what other sessions left.
   * @param {string} secret the session's key, 32 bytes in base64
   * @param {string} lesson
   */
  static async open(secret, lesson) {
    // Browsers seal only on encrypted connections. Elsewhere, answers wait only as long as the page is open.
    if (!crypto.subtle) return new WaitingAnswers(undefined, PREFIX);
    const bytes = toBytes(secret);
    const tag = toText(await crypto.subtle.digest("SHA-256", bytes)).slice(0, 16);
    for (const name of Object.keys(localStorage)) {
      if (name.startsWith(PREFIX) && !name.startsWith(`${PREFIX}${tag}:`)) localStorage.removeItem(name);
    }
    const key = await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
    return new WaitingAnswers(key, `${PREFIX}${tag}:${lesson}`);
  }

  constructor(key, name) {
    this.#key = key;
    this.#name = name;
  }

  /** Runs work while no other work, in this tab or another one, reads or changes these answers. */
  #alone(work) {
    if (this.#key) return navigator.locks.request(this.#name, work);
    this.#lastWork = this.#lastWork.then(work);
    return this.#lastWork;
  }

  async #read() {
    return [...(await this.#stored()), ...this.#unsealed];
  }

  async #stored() {
    if (!this.#key) return [];
    const stored = localStorage.getItem(this.#name);
    if (!stored) return [];
    try {
      const [iv, sealed] = stored.split(".").map(toBytes);
      const opened = await crypto.subtle.decrypt({ name: "AES-GCM", iv }, this.#key, sealed);
      return JSON.parse(decoder.decode(opened));
    } catch {
      // Damaged: nothing of it can be sent.
      localStorage.removeItem(this.#name);
      return [];
    }
  }

  async #write(answers) {
    if (!this.#key) {
      this.#unsealed = answers;
      return;
    }
    if (answers.length === 0) {
      this.#unsealed = [];
      localStorage.removeItem(this.#name);
      return;
    }
    const iv = crypto.getRandomValues(new Uint8Array(12));
    const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, this.#key, encoder.encode(JSON.stringify(answers)));
    try {
      localStorage.setItem(this.#name, `${toText(iv)}.${toText(sealed)}`);
      this.#unsealed = [];
    } catch {
      // The browser's storage is full.
      this.#unsealed = answers;
      localStorage.removeItem(this.#name);
    }
  }

  /** Whether the answers that wait are stored in the browser, so that they outlive the page. */
  get areStored() {
    return this.#unsealed.length === 0;
  }

  /** All answers that wait. */
  all() {
    return this.#alone(() => this.#read());
  }

  /** Adds an answer. */
  add(answer) {
    return this.#alone(async () => this.#write([...(await this.#read()), answer]));
  }

  /** Removes the waiting answers of the student who is signed in. */
  removeOwn() {
    return this.#alone(() => this.#write([]));
  }

  /**
   * Sends the answers in their order, and removes each one that the server has taken or refused. Other answers can be
   * added meanwhile. Another tab may send the same ones: their ids make them count once.
   * @param {(answer: object) => Promise<unknown>} send
   * @param {(error: Error) => boolean} isRefused whether sending again cannot help
   * @returns {Promise<{ sent: { answer: object, reply: unknown }[], refused: { answer: object, error: Error }[] }>} Fails
   * with the first error after which the rest still waits.
   */
  async send(send, isRefused) {
    const done = { sent: [], refused: [] };
    for (let [answer] = await this.all(); answer; [answer] = await this.all()) {
      try {
        done.sent.push({ answer, reply: await send(answer) });
      } catch (error) {
        if (!isRefused(error)) throw error;
        done.refused.push({ answer, error });
      }
      const { id } = answer;
      await this.#alone(async () => this.#write((await this.#read()).filter((other) => other.id !== id)));
    }
    return done;
  }
}
