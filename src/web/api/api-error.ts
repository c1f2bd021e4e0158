/** What the server, or the way to it, says of a request that failed. */
export class ApiError extends Error {
  /** Of HTTP; 0 where no answer came. */
  readonly status: number;
  /** What `Retry-After` asks for; null where it asks for nothing. */
  readonly retryAfterSeconds: number | null;

  constructor(status: number, message: string, retryAfterSeconds: number | null = null) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** What is said of a failure, whatever was thrown. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
