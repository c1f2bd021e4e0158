/* Failed requests, and the sentences for them. */

interface ApiErrorDetails {
  /** The value of `Retry-After`. */
  readonly retryAfterSeconds?: number | null;
  /** Whether our server wrote the answer, and not a proxy or a network's own sign-in page. */
  readonly isOurs?: boolean;
  /** The server's error code, such as `REVOKED_API_KEY`. */
  readonly name?: string | null;
}

/** Statuses after which a request may be repeated. */
const TRY_AGAIN_STATUSES: readonly number[] = [408, 425, 429];

/** A failed request: the server rejected it, could not answer, or was not reached. */
export class ApiError extends Error {
  /** The HTTP status; 0 if no answer came. */
  readonly status: number;
  /** Null if the answer asks for no pause. */
  readonly retryAfterSeconds: number | null;
  readonly isOurs: boolean;
  readonly errorName: string | null;

  constructor(
    status: number,
    message: string,
    { retryAfterSeconds = null, isOurs = false, name = null }: ApiErrorDetails = {},
  ) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
    this.isOurs = isOurs;
    this.errorName = name;
  }

  /** Whether our server has rejected the request for good, so that repeating it is useless. */
  get isRefusal(): boolean {
    return (
      this.isOurs && this.status >= 400 && this.status < 500 && !TRY_AGAIN_STATUSES.includes(this.status)
    );
  }
}

/** The sentence that the page shows for a failure. Messages of the server begin in lower case and have no full stop. */
export function sentenceOf(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  const isName = /^\w+_/.test(words); // A field's name, as in "device_id must not be empty".
  return (
    (isName ? words : words.charAt(0).toUpperCase() + words.slice(1)) + (/[.?!]$/.test(words) ? "" : ".")
  );
}

/** The sentence for a failure after which the page tries again by itself. */
export function retryingSentenceOf(error: ApiError): string {
  return `${sentenceOf(error)} Trying again…`;
}
