/** Sends a request with a body to a server of somebody else, which may do anything. */
export type Post = (request: PostRequest) => Promise<PostOutcome>;

export interface PostRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Why the request may not go to this address; null if it may. Asked for each address of the name. */
  refusalOf(address: string): string | null;
  /** Ends the request, whatever it waits for. */
  readonly signal: AbortSignal;
}

export type PostOutcome =
  | PostAnswer
  /** All addresses of the name are refused. */
  | { readonly kind: "refused"; readonly reason: string }
  /** No connection, or no answer. `reason` is a phrase that names no address. */
  | { readonly kind: "failed"; readonly reason: string };

export interface PostAnswer {
  readonly kind: "answered";
  readonly status: number;
  readonly retryAfter: string | null;
  /** The beginning of the body, as text. */
  readonly body: string;
}

/** The whole request, from its name's address to the head of the answer. */
export const POST_MS_MAX = 15_000;
/** What the rest of the answer may take, once its head has come. */
export const ANSWER_MS_MAX = 1000;
/** Bytes that are read of the body of an answer. */
export const ANSWER_BYTES_MAX = 1024;

/** Finds the addresses of a name. Rejects if it has none. */
export type ResolveName = (hostname: string) => Promise<readonly string[]>;
