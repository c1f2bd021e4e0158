import { isObject } from "../../lib/is-object.ts";

/**
 * A replicated log of messages on other machines, in our words: what takes part in it, and what it can refuse. Messages
 * count from 1 or from where the stream was begun; a number is never given twice, also not after a purge.
 */
export interface Stream {
  readonly name: string;
  /** When it was created, as its servers say it: a stream that was made anew under the same name has another one. */
  readonly created: string;
  /** The longest message that the servers take. */
  readonly messageBytesMax: number;
  /**
   * Appends a message. Resolves with its number once a majority of the servers has it on disk; of a message that was
   * published before under the same id, within the last two minutes, with the number of that. Rejects with a
   * `StreamError`: where it is `unreachable` the message may be there all the same, or still come.
   */
  publish(message: Uint8Array, id: string): Promise<number>;
  /**
   * Hands over every message from this number on, in order, none left out and none twice, the next one once the
   * promise of the one before is resolved; messages that come meanwhile are read ahead, up to a bound. Survives the
   * loss of servers and connections. Rejects with a `StreamError` of kind `gone` where messages of this number or later
   * ones were purged, or the stream was removed or created anew, and with what `onMessage` throws. Resolves once the
   * signal is aborted.
   */
  follow(
    from: number,
    onMessage: (message: StreamMessage) => Promise<void> | void,
    signal: AbortSignal,
  ): Promise<void>;
  /** Asks the servers. Rejects with a `StreamError`. */
  state(): Promise<StreamState>;
  /** Of the message that the servers have there; null where they have none. Rejects with a `StreamError`. */
  messageId(number: number): Promise<string | null>;
  /** Removes all messages below this number. Rejects with a `StreamError`. */
  purgeBefore(message: number): Promise<void>;
  /** Small values of this name that all nodes share, replicated as the stream is. Rejects with a `StreamError`. */
  bucket(name: string, options?: BucketOptions): Promise<Bucket>;
  close(): Promise<void>;
}

/** What a start needs to know of a stream before it follows it. */
export type AskedStream = Pick<Stream, "name" | "state" | "messageId">;

export interface StreamMessage {
  readonly number: number;
  /** The one it was published with. */
  readonly id: string;
  /** Aligned to 8 bytes, in a buffer of its own. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface StreamState {
  /** The oldest message that is still there; `lastMessage + 1` where there is none. */
  readonly firstMessage: number;
  /** The newest that was ever there, or the number before the first that will be. */
  readonly lastMessage: number;
  readonly bytes: number;
  /** As many as it may have. */
  readonly bytesMax: number;
}

export interface BucketOptions {
  /** Each value is gone this long after it was written; without it they stay. */
  readonly ttlMs?: number;
  /** It holds what is nowhere else: where it is not there, that is `gone`, and it is not made. */
  readonly mustExist?: boolean;
}

/** A few named values with revisions, the same for everybody. All of its calls reject with a `StreamError`. */
export interface Bucket {
  /** The longest value that the servers take. */
  readonly valueBytesMax: number;
  /** Null where there is none. Asks the servers. */
  get(key: string): Promise<BucketEntry | null>;
  /** All that there are. */
  entries(): Promise<readonly BucketEntry[]>;
  /** Writes it whatever was there. */
  put(key: string, value: Uint8Array): Promise<number>;
  /** Writes it where its revision is still this one, 0 where there must be none; else rejects with a `conflict`. */
  update(key: string, value: Uint8Array, revision: number): Promise<number>;
  delete(key: string): Promise<void>;
  /** Tells of every value there is, once all of them are known; then of each change, null for a value that is gone. */
  watch(onChange: (key: string, entry: BucketEntry | null) => void, signal: AbortSignal): Promise<void>;
}

export interface BucketEntry {
  readonly key: string;
  readonly value: Uint8Array;
  readonly revision: number;
  /** When it was written, by the clock of the servers. */
  readonly writtenMs: number;
}

export type StreamErrorKind =
  /** No server answers, or no majority of them does. It may be better soon. */
  | "unreachable"
  /** The stream holds as many bytes as it may, or the servers' disks are full. */
  | "full"
  /** Somebody else has written meanwhile. */
  | "conflict"
  /** What was asked for is not there any more, or is another one under the same name. */
  | "gone"
  /** The servers don't allow it, or are set up in a way that we can't rely on; the message says what to change. */
  | "refused";

export class StreamError extends Error {
  override readonly name = "StreamError";
  readonly kind: StreamErrorKind;

  constructor(kind: StreamErrorKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
  }
}

/** Where the servers are, and which of their streams is meant. */
export interface StreamAddress {
  /** `HOST:PORT`; one that answers is enough. */
  readonly servers: readonly string[];
  readonly isSecure: boolean;
  readonly stream: string;
  /** What the servers know us by; null where they ask nobody. */
  readonly credentials: StreamCredentials | null;
  /** Certificates in PEM that the servers' must be signed by; null for those that the runtime trusts. */
  readonly authorities: string | null;
}

export type StreamCredentials =
  | { readonly kind: "user"; readonly user: string; readonly password: string }
  | { readonly kind: "token"; readonly token: string }
  /** The text of a `.creds` file. */
  | { readonly kind: "file"; readonly text: string };

export interface StreamOptions {
  readonly address: StreamAddress;
  /** What a stream is made with where there is none yet; null where it must be there. */
  readonly create: { readonly firstMessage: number; readonly bytesMax: number } | null;
  /** Of connections lost and found again, in a sentence. */
  onNote(note: string): void;
}

/** Connects, and makes the stream where it may. Rejects with a `StreamError`, `refused` where servers don't sync. */
export type OpenStream = (options: StreamOptions) => Promise<Stream>;

/** A message that was taken, by what tells it from another one that its number was given to later. */
export type TakenMessage = Pick<StreamMessage, "number" | "id">;

/** As a file or a peer has it, with null for none; undefined where it is neither. */
export function parseTakenMessage(value: unknown): TakenMessage | null | undefined {
  if (value === null) return null;
  if (!isObject(value)) return undefined;
  const { number, id } = value;
  const isNumber = typeof number === "number" && Number.isSafeInteger(number) && number >= 1;
  return isNumber && typeof id === "string" ? { number, id } : undefined;
}
