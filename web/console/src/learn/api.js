// Calls of the student's own API at /api/learn.

/** The server cannot be reached. */
export class Unreachable extends Error {}
/** The session has ended. */
export class SignedOut extends Error {}
/** The server refused a request; `status` and the message say why. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** A request that takes longer counts as a lost connection. */
const REQUEST_MAX_MS = 20_000;
/** An answer may carry a file, and the connection may be slow. */
const ANSWER_MAX_MS = 120_000;

/** The token of the page's forms. With it, the server refuses a page of an earlier session in this browser. */
const pageToken = document.querySelector("form[action='/sign-out'] [name=token]").value;

async function call(method, path, body, maxMs = REQUEST_MAX_MS) {
  const answer = await fetch(`/api/learn${path}`, {
    method,
    headers: { "page-token": pageToken, ...(body !== undefined && { "content-type": "application/json" }) },
    body: body === undefined ? undefined : JSON.stringify(body),
    credentials: "same-origin",
    cache: "no-store",
    signal: AbortSignal.timeout(maxMs),
  }).catch(() => {
    throw new Unreachable();
  });
  if (answer.status === 401) throw new SignedOut();
  // A proxy in front of a server that is down, a server that is starting or one that is busy: try again.
  if (answer.status >= 500 || answer.status === 429) throw new Unreachable();
  const value = await answer.json().catch(() => {
    throw new Unreachable();
  });
  if (!answer.ok) throw new Refused(answer.status, value.message ?? value.detail ?? value.title ?? "");
  return value;
}

/** The calls for one lesson. */
export class LessonApi {
  #path;

  constructor(lesson) {
    this.#path = `/lessons/${encodeURIComponent(lesson)}`;
  }

  /** The key with which this session seals answers that wait. */
  static key() {
    return call("GET", "/key");
  }

  open() {
    return call("GET", this.#path);
  }

  /** Starts the attempt after the one with this number. */
  start(after) {
    return call("POST", `${this.#path}/attempts`, { after });
  }

  next() {
    return call("POST", `${this.#path}/next`, {});
  }

  answer(answer) {
    return call("POST", `${this.#path}/answers`, answer, ANSWER_MAX_MS);
  }

  finish(attempt) {
    return call("POST", `${this.#path}/finish`, { attempt });
  }

  review() {
    return call("GET", `${this.#path}/review`);
  }

  markDone() {
    return call("POST", `${this.#path}/done`, {});
  }
}
