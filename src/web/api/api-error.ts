/* Requests without a good answer, and the words for them. */

interface ApiErrorDetails {
  /** What `Retry-After` asks for. */
  readonly retryAfterSeconds?: number | null;
  /** Whether our server wrote the answer. Proxies, and networks that ask to sign in first, answer too. */
  readonly isOurs?: boolean;
  /** The server's name for the failure, as in `REVOKED_API_KEY`. */
  readonly name?: string | null;
}

/** Statuses by which our server asks for another try. */
const TRY_AGAIN_STATUSES: readonly number[] = [408, 425, 429];

/** A request without a good answer: the server refused it, or could not answer now, or was not reached. */
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

  /** Whether our server has understood the request and says no, so that the same request gets the same answer. */
  get isRefusal(): boolean {
    return (
      this.isOurs && this.status >= 400 && this.status < 500 && !TRY_AGAIN_STATUSES.includes(this.status)
    );
  }
}

/** The sentence that the page shows for a failure. Messages of the server begin in lower case and have no full stop. */
export function sentenceOf(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  const isName = /^\w+_/.test(words); // As in "device_id must not be empty".
  return (
    (isName ? words : words.charAt(0).toUpperCase() + words.slice(1)) + (/[.?!]$/.test(words) ? "" : ".")
  );
}

/** The sentence for a failure after which the page tries again by itself. */
export function retryingSentenceOf(error: ApiError): string {
  return `${sentenceOf(error)} Trying again…`;
}
