import { ConnectionError, SetupError } from "./errors.js";
import { ANSWER_TIMEOUT_MS, read } from "./http.js";
import type { Query } from "./http.js";

/** A request to the game's own backend. */
export interface BackendRequest {
  query?: Query;
  /** Forms, blobs, bytes and texts are sent as they are, anything else as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
}

/**
 * The game's own backend: the routes of `server/api`. Paths are those of the routes, with or without
 * `/api` in front. Requests carry the player's token, so that routes know who calls.
 */
export class Backend {
  constructor(
    private readonly base: string | undefined,
    private readonly token: () => string | undefined,
  ) {}

  get<T = unknown>(path: string, request: BackendRequest = {}): Promise<T> {
    return this.request("GET", path, request);
  }

  post<T = unknown>(path: string, body?: unknown, request: BackendRequest = {}): Promise<T> {
    return this.request("POST", path, { ...request, body });
  }

  put<T = unknown>(path: string, body?: unknown, request: BackendRequest = {}): Promise<T> {
    return this.request("PUT", path, { ...request, body });
  }

  patch<T = unknown>(path: string, body?: unknown, request: BackendRequest = {}): Promise<T> {
    return this.request("PATCH", path, { ...request, body });
  }

  delete<T = unknown>(path: string, request: BackendRequest = {}): Promise<T> {
    return this.request("DELETE", path, request);
  }

  /** The JSON of the answer. Throws `ApiError` where the route refuses, and `ConnectionError`. */
  async request<T = unknown>(method: string, path: string, request: BackendRequest = {}): Promise<T> {
    const response = await this.download(path, request, method);
    return read<T>(this.#base(), response, await response.text());
  }

  /** The answer as it comes, for files and streams. Throws `ConnectionError`. */
  async download(path: string, request: BackendRequest = {}, method = "GET"): Promise<Response> {
    const { query, body } = request;
    const headers: Record<string, string> = { accept: "application/json, */*", ...request.headers };
    const token = this.token();
    if (token) headers.authorization ??= `Bearer ${token}`;
    const init: RequestInit = { method, headers, signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) };
    if (body !== undefined) {
      init.body = isRaw(body) ? body : JSON.stringify(body);
      if (!isRaw(body)) headers["content-type"] ??= "application/json";
    }
    try {
      return await fetch(this.url(path, query), init);
    } catch (cause) {
      throw new ConnectionError(`no answer from the backend at '${this.#base()}'; does it run`, { cause });
    }
  }

  /** The address of a route, such as for pictures. */
  url(path: string, query: Query = {}): string {
    const below = path.replace(/^\/*(api(?=\/|$))?\/*/, "");
    const url = new URL(below ? `${this.#base()}/${below}` : this.#base());
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return url.href;
  }

  #base(): string {
    return (this.base ?? besidePage()).replace(/\/+$/, "");
  }
}

/** The backend of the host that serves the page; a project that is reached by a path has it below that. */
function besidePage(): string {
  const { location } = globalThis as { location?: Location };
  if (!location?.href.startsWith("http")) {
    throw new SetupError("nothing says where the game's backend is; pass backendUrl");
  }
  const below = location.pathname.match(/^\/_projects\/[^/]+/)?.[0] ?? "";
  return `${location.protocol}//${location.host}${below}/api`;
}

function isRaw(body: unknown): body is BodyInit {
  const kinds = [FormData, Blob, URLSearchParams, ArrayBuffer, ReadableStream];
  return typeof body === "string" || ArrayBuffer.isView(body) || kinds.some((kind) => body instanceof kind);
}
