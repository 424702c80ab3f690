import { ApiError, ConnectionError } from "./errors.js";

/** What a query can say; what is undefined is left out. */
export type Query = Record<string, string | number | boolean | undefined>;

/** A request to the API. */
export interface Request {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the API's base, with a leading slash. */
  path: string;
  query?: Query | undefined;
  /** Sent as JSON. */
  body?: unknown;
  /** The `Idempotency-Key`: sent again with it, the request counts once. */
  key?: string;
  /** The request outlives the page that makes it. */
  keepalive?: boolean;
}

/** How long an answer may take, in milliseconds. */
export const ANSWER_TIMEOUT_MS = 15_000;

/** How long a server may take to say that it is there, in milliseconds. */
const PING_TIMEOUT_MS = 5_000;

/** How wrong a device's clock may be before the server's counts, in milliseconds. */
const CLOCK_TOLERANCE_MS = 30_000;

/** Who calls. */
export interface Caller {
  /** Gets a new token when the one in use is refused. */
  refreshToken?: () => Promise<string>;
  /** For whom a client's token acts. */
  userId?: string;
  /** Sends requests in place of the global `fetch`. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

/** Sends requests to one server with one token. */
export class Http {
  /** The address of the API, without a slash at its end. */
  readonly baseUrl: string;
  #token: string | undefined;
  #behindMs = 0;

  constructor(
    baseUrl: string,
    token: string | undefined,
    private readonly caller: Caller = {},
  ) {
    this.baseUrl = apiBase(baseUrl);
    this.#token = token;
  }

  get token(): string | undefined {
    return this.#token;
  }

  set token(token: string | undefined) {
    this.#token = token;
  }

  /** The present by the server's clock: devices with a wrong one would tell of the future, or of another day. */
  now(): number {
    return Date.now() + this.#behindMs;
  }

  /**
   * Sends a request and answers the JSON of its answer, undefined where that is empty. A token that
   * is refused is refreshed once where the client knows how.
   *
   * Throws {@link ApiError} and {@link ConnectionError}.
   */
  async send<T>(request: Request): Promise<T> {
    try {
      return await this.#once<T>(request);
    } catch (error) {
      const expired = error instanceof ApiError && error.status === 401;
      if (!expired || !this.caller.refreshToken) throw error;
      this.#token = await this.caller.refreshToken();
      return this.#once<T>(request);
    }
  }

  /** Whether the server answers at all. */
  async answers(): Promise<boolean> {
    try {
      const response = await fetch(this.baseUrl, {
        headers: { accept: "application/json" },
        signal: AbortSignal.timeout(PING_TIMEOUT_MS),
      });
      this.#compareClocks(response);
      return response.ok && typeof (await response.json()) === "object";
    } catch {
      return false;
    }
  }

  /** The header `Date` is in whole seconds, and old by the time it comes: small differences are none. */
  #compareClocks({ headers }: Response): void {
    const behindMs = Date.parse(headers.get("date") ?? "") - Date.now();
    if (!Number.isNaN(behindMs)) this.#behindMs = Math.abs(behindMs) > CLOCK_TOLERANCE_MS ? behindMs : 0;
  }

  async #once<T>({ method, path, query, body, key, keepalive }: Request): Promise<T> {
    const url = new URL(this.baseUrl + path);
    for (const [name, value] of Object.entries({ userId: this.caller.userId, ...query })) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const headers: Record<string, string> = { accept: "application/json" };
    if (this.#token !== undefined) headers.authorization = `Bearer ${this.#token}`;
    if (body !== undefined) headers["content-type"] = "application/json";
    if (key !== undefined) headers["idempotency-key"] = key;
    const init: RequestInit = { method, headers, signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) };
    if (body !== undefined) init.body = JSON.stringify(body);
    if (keepalive) init.keepalive = true;
    let response: Response;
    let text: string;
    try {
      response = await (this.caller.fetch ?? fetch)(url.href, init);
      this.#compareClocks(response);
      text = await response.text();
    } catch (error) {
      const cause = error instanceof Error && error.name === "TimeoutError" ? "no answer in time" : "no connection";
      throw new ConnectionError(
        `${cause} from '${this.baseUrl}'; is the server running, and is this its address and port`,
        {
          cause: error,
        },
      );
    }
    return read<T>(this.baseUrl, response, text);
  }
}

/** Reads an answer. Throws what it tells of. */
export function read<T>(baseUrl: string, response: Response, text: string): T {
  const type = response.headers.get("content-type") ?? "";
  if (text === "" && response.ok) return undefined as T;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    if (type.includes("html") || text.trimStart().startsWith("<")) {
      const message = `'${baseUrl}' answered with a page instead of JSON; server not running, or wrong address or port`;
      throw new ConnectionError(message, { cause });
    }
    if (response.ok)
      throw new ConnectionError(`'${baseUrl}' answered something else than JSON; wrong address or port`, { cause });
    value = {};
  }
  if (response.ok) return value as T;
  const error = (value as { error?: { code?: string; message?: string; details?: unknown } }).error ?? {};
  throw new ApiError(
    response.status,
    error.code ?? `HTTP_${response.status}`,
    error.message ?? `the server answered ${response.status} ${response.statusText}`.trimEnd(),
    error.details,
    retryAfter(response.headers.get("retry-after")),
    response.headers.get("x-request-id") ?? undefined,
  );
}

/** The header `Retry-After` (RFC 9110, 10.2.3) in milliseconds. */
function retryAfter(header: string | null): number | undefined {
  if (!header) return undefined;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

/** The address of the API of a server: both `http://host:4321` and `http://host:4321/api` are meant. */
function apiBase(url: string): string {
  const base = url.replace(/\/+$/, "");
  return base.endsWith("/api") ? base : `${base}/api`;
}

/** A part of a path. */
export const part = (text: string): string => encodeURIComponent(text);
