/** The server refused a request or failed at it. */
export class ApiError extends Error {
  override readonly name = "ApiError";

  constructor(
    /** The HTTP status. */
    readonly status: number,
    /** What went wrong, for programs: `NOT_FOUND`, `VALIDATION_FAILED`, … */
    readonly code: string,
    message: string,
    /** Which members of the request are at fault. */
    readonly details?: unknown,
    /** How long the server asks to be left alone, in milliseconds. */
    readonly retryAfterMs?: number,
    /** Under which name the server's log has it. */
    readonly requestId?: string,
  ) {
    super(message);
  }

  /** Whether the same request may succeed later. */
  get retryable(): boolean {
    // No wait switches a learning integration on.
    return (this.status === 429 || this.status === 408 || this.status >= 500) && this.code !== "LMS_DISABLED";
  }
}

/** No answer of a Lyceum server came: no network, no server, a wrong address or port. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  readonly retryable = true;
}

/** The client was not set up, and what to do. */
export class SetupError extends Error {
  override readonly name = "SetupError";
}

/** The offline queue has no room for another write; nothing of it was lost. */
export class QueueFullError extends Error {
  override readonly name = "QueueFullError";
}

/** Whether a failed request is worth sending again. */
export function isRetryable(error: unknown): boolean {
  return (error instanceof ApiError || error instanceof ConnectionError) && error.retryable;
}
