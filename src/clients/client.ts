import type { Steps } from "../lib/schedule/steps.ts";
import type { Content } from "./content.ts";
import type { MessageSink } from "./point.ts";
import type { SpeedUnit } from "./reading/speed.ts";

/** Apps and servers that report in their own formats. Each is a folder or file of this directory (docs/clients.md). */
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

/** The headers that describe a report. No other header is stored or read. */
export const MESSAGE_HEADERS = ["user-agent", "content-type", "x-limit-u", "x-limit-d"] as const;

export type MessageHeader = (typeof MESSAGE_HEADERS)[number];

/** A message of a client, from a request, from a broker, or replayed from the quarantine. */
export interface ClientMessage {
  readonly arrivedMs: number;
  readonly content: Content;
  /** The URL's parameters without keys, `device_id`, `user_id` and `speed_unit`. */
  readonly query: URLSearchParams;
  readonly headers: Readonly<Partial<Record<MessageHeader, string>>>;
  /** The user name of Basic authentication, unless it is the key: clients put the device's owner there. */
  readonly basicUser: string | null;
  /** The broker's topic; null for a request. */
  readonly topic: string | null;
  /** The unit of speeds set by the operator, which overrides the client's. */
  readonly speedUnit: SpeedUnit | null;
  /** Decrypts a box of a device, named as `deviceOf` does; null if no pass phrase of this sender fits. */
  decrypt(device: string | null, box: Uint8Array): Steps<Uint8Array | null>;
}

export interface ClientAnswer {
  readonly contentType: string | null;
  readonly body: string;
}

/** The complete description of one client: what it sends, how to read it, and how to answer. */
export interface Client {
  readonly name: ClientName;
  /** Methods that carry reports. If GET is not among them, a GET never gets a success answer. */
  readonly methods: readonly ("GET" | "POST")[];
  /** Whether URL parameters can be a report, so that a request with neither parameters nor a body is an error. */
  readonly takesQuery: boolean;
  /** Whether the shape of a body shows that it is this client's, on any path. */
  recognizes(value: unknown): boolean;
  /** Whether this client's path accepts the body's dialect, even if another client recognizes it. */
  speaks(value: unknown): boolean;
  /** Reads the points of a message, in steps. */
  read(message: ClientMessage, sink: MessageSink): Steps<void>;
  readonly success: ClientAnswer;
  /** The answer to a GET that only tests the key. It must differ from success. Such GETs fail if there is none. */
  greeting?(keyLabel: string): ClientAnswer;
  /** The answer to a failure, from one plain sentence. It must not contain text that the client acts upon. */
  failure(sentence: string): ClientAnswer;
  /** Whether it repeats refused messages immediately and forever, so that the server must delay refusals. */
  readonly retriesAtOnce: boolean;
  /** Whether many devices share a key, so that a point without a device name needs one from the key or the URL. */
  readonly mustNameDevice: boolean;
}

/** A failure in plain text, which most clients expect. */
export function plainFailure(sentence: string): ClientAnswer {
  return { contentType: "text/plain; charset=utf-8", body: `${sentence}\n` };
}

/** A failure as `{"error":"…"}`, for clients that show the text to their user. */
export function jsonFailure(sentence: string): ClientAnswer {
  return { contentType: "application/json", body: JSON.stringify({ error: sentence }) };
}
