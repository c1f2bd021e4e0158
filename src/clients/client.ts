import type { Steps } from "../lib/schedule/steps.ts";
import type { Content } from "./content.ts";
import type { MessageSink } from "./point.ts";
import type { SpeedUnit } from "./reading/speed.ts";

/** Apps and servers that report to us in words of their own; each is one folder or file here (docs/clients.md). */
export const CLIENT_NAMES = [
  "owntracks",
  "overland",
  "traccar",
  "osmand",
  "gpslogger",
  "opengts",
  "colota",
  "homeassistant",
  "phonetrack",
  "traccar-forward",
] as const;

export type ClientName = (typeof CLIENT_NAMES)[number];

/** Headers that say something about a report. No other is kept or looked at. */
export const MESSAGE_HEADERS = ["user-agent", "content-type", "x-limit-u", "x-limit-d"] as const;

export type MessageHeader = (typeof MESSAGE_HEADERS)[number];

/** What a client sent, whatever brought it: a request, a broker, or the quarantine, from which it is tried again. */
export interface ClientMessage {
  readonly arrivedMs: number;
  readonly content: Content;
  /** Parameters of the URL, without keys, `device_id`, `user_id` and `speed_unit`. */
  readonly query: URLSearchParams;
  readonly headers: Readonly<Partial<Record<MessageHeader, string>>>;
  /** The name beside the password where it is no key: clients say there whose device it is. */
  readonly basicUser: string | null;
  /** The broker's topic; null for a request. */
  readonly topic: string | null;
  /** What the operator says speeds are in, against all rules below. */
  readonly speedUnit: SpeedUnit | null;
  /** Opens what a device, as `deviceOf` names it, encrypted; null where no pass phrase of this sender does. */
  decrypt(device: string | null, box: Uint8Array): Steps<Uint8Array | null>;
}

/** What a client is told, as it understands it. */
export interface ClientAnswer {
  readonly contentType: string | null;
  readonly body: string;
}

/** One client, whole: what it sends, how it is read, and what it must be told. */
export interface Client {
  readonly name: ClientName;
  /** Methods that bring reports. A GET on a path that takes none of its own is never answered with success. */
  readonly methods: readonly ("GET" | "POST")[];
  /** Whether parameters of the URL can be a report, so that a request without any and without a body is a mistake. */
  readonly takesQuery: boolean;
  /** Whether a body is this client's by its shape, on whichever path it came. */
  recognizes(value: unknown): boolean;
  /** Whether a body is in a dialect that this client's own path takes, though it may be the shape of another. */
  speaks(value: unknown): boolean;
  /** Finds the points of a message, some at a step. */
  read(message: ClientMessage, sink: MessageSink): Steps<void>;
  readonly success: ClientAnswer;
  /** What a GET is told that asks only whether the key is right; no such GET where it is left out. Never a success. */
  greeting?(keyLabel: string): ClientAnswer;
  /** What it is told of a failure, in one plain sentence. Never a word that it acts upon. */
  failure(sentence: string): ClientAnswer;
  /** Whether it sends again at once and for ever what was refused, so that a refusal must be slow. */
  readonly retriesAtOnce: boolean;
  /**
   * Whether its messages name their device, because many devices share a key: a point without a name then needs one
   * from the key or the URL.
   */
  readonly mustNameDevice: boolean;
}

/** A failure in plain text, as most clients take it. */
export function plainFailure(sentence: string): ClientAnswer {
  return { contentType: "text/plain; charset=utf-8", body: `${sentence}\n` };
}

/** A failure as `{"error":"…"}`, for clients that show its text to their user. */
export function jsonFailure(sentence: string): ClientAnswer {
  return { contentType: "application/json", body: JSON.stringify({ error: sentence }) };
}
