// Game tokens: valid for a short time and for this game only. Each is renewed before it expires.

/** Seconds before its end at which a token is followed by the next one. */
const AHEAD_S = 60;
/** How long to wait until a server that does not answer is asked again, in milliseconds. */
const AGAIN_MS = 5_000;
/** How long an answer may take, in milliseconds. */
const ANSWER_MS = 15_000;

/** The account has ended or was left: only signing in helps. */
export class SignedOut extends Error {}
/** The server refuses, and will refuse again. */
export class Refused extends Error {}

export class Tokens {
  #timer;
  #asking;

  /** `storage` has the token of a demo visitor, so that the visitor stays the same when the page is reloaded. */
  constructor({ slug, path, isDemo, storage, renewed, lost, failed }) {
    this.path = isDemo ? `/api/games/${slug}/demo` : path;
    Object.assign(this, { isDemo, storage, renewed, lost, failed, key: `lyceum-demo:${slug}` });
    // The token may have expired while the device slept.
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && this.current && this.#isDue()) void this.renew();
    });
  }

  /** Gets the next token. Throws {@link SignedOut}, {@link Refused}, or an error of `fetch`. */
  first() {
    this.stopped = false;
    return this.#ask();
  }

  /** Gets the next token and hands it on; where nobody answers it is tried again. */
  async renew() {
    if (this.stopped) return;
    try {
      const token = await this.#ask();
      if (!this.stopped) this.renewed(token);
    } catch (error) {
      if (this.stopped) return;
      if (error instanceof SignedOut) return this.lost(error);
      this.failed(error);
      this.#later(AGAIN_MS);
    }
  }

  /** The player has left: no token is asked for until {@link first}. */
  stop() {
    this.stopped = true;
    clearTimeout(this.#timer);
  }

  #later(ms) {
    clearTimeout(this.#timer);
    if (!this.stopped) this.#timer = setTimeout(() => this.renew(), ms);
  }

  #isDue() {
    return this.current.exp - AHEAD_S < Date.now() / 1000;
  }

  /** Several callers at once share one question. */
  #ask() {
    this.#asking ??= this.#fetch().finally(() => (this.#asking = undefined));
    return this.#asking;
  }

  async #fetch() {
    const headers = { accept: "application/json", "content-type": "application/json" };
    const former = this.isDemo && (this.current?.token ?? this.storage.getItem(this.key));
    if (former) headers.authorization = `Bearer ${former}`;
    const signal = AbortSignal.timeout(ANSWER_MS);
    const answer = await fetch(this.path, { method: "POST", headers, body: "{}", signal });
    if (answer.status === 401 || answer.status === 403) throw new SignedOut();
    if (!answer.ok) throw new Refused(`${answer.status}`);
    this.current = await answer.json();
    if (this.isDemo) this.storage.setItem(this.key, this.current.token);
    this.#later(Math.max(1, this.current.expiresIn - AHEAD_S) * 1000);
    return this.current;
  }
}
