/** An answer of the server that is an error, with its own words. */
export class WherehouseError extends Error {
  override readonly name = "WherehouseError";
  /** Such as `PARAMETER_001`; docs/errors.md lists them. Null if the answer came from a proxy. */
  readonly code: string | null;
  readonly status: number;
  /** Seconds to wait before the request may be sent again; null if waiting does not help. */
  readonly retryAfterSeconds: number | null;

  constructor(message: string, status: number, code: string | null, retryAfterSeconds: number | null) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

const BUSY: readonly number[] = [429, 502, 503, 504];
const RETRY_SECONDS = 2;

/** The error that an answer is. */
export async function failureOf(answer: Response): Promise<WherehouseError> {
  const text = await answer.text();
  const { headers, status } = answer;
  const wait = Number(headers.get("retry-after") ?? RETRY_SECONDS);
  const retryAfterSeconds = BUSY.includes(status) ? (Number.isFinite(wait) ? wait : RETRY_SECONDS) : null;
  return new WherehouseError(
    messageOf(text) ?? `the server answered ${status}`,
    status,
    headers.get("wherehouse-error-code"),
    retryAfterSeconds,
  );
}

function messageOf(text: string): string | null {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    return typeof message === "string" ? message : null;
  } catch {
    return null;
  }
}
