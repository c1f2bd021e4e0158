import { isObject } from "../../lib/is-object.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import { type Client, type ClientMessage, plainFailure } from "../client.ts";
import { LongText, listOf } from "../content.ts";
import { deviceOf } from "../identity.ts";
import { isOwnTracksMode } from "../overland-owntracks-mode.ts";
import type { MessageSink } from "../point.ts";
import { readContent } from "../read-content.ts";
import { readClaim, topicParts } from "./claim.ts";
import { type Encrypted, isEncrypted, readBox } from "./encryption.ts";
import { readLocation } from "./location.ts";

/** OwnTracks for Android and iOS, over HTTP or from a broker, and trackers that use its format. */
export const owntracks: Client = {
  name: "owntracks",
  methods: ["POST"],
  takesQuery: false,
  recognizes: isMessage,
  speaks: isMessage,
  read,
  success: { contentType: "application/json", body: "[]" },
  failure: plainFailure,
  retriesAtOnce: false,
  mustNameDevice: false,
};

/** Messages of a list read per step; an app sends single messages. */
const POINTS_A_STEP = 32;

/** A message, or a list that begins with one, except those that Overland writes. */
function isMessage(value: unknown): boolean {
  const [first] = listOf(value) ?? [value];
  return isObject(first) && typeof first._type === "string" && !isOwnTracksMode(first);
}

function* read(message: ClientMessage, sink: MessageSink): Steps<void> {
  const { content, topic } = message;
  if (topic !== null && topicParts(topic).length < 3) return sink.skip("topic without a device");
  switch (content.kind) {
    case "empty":
      return sink.skip("empty message"); // Tells a broker to drop a retained message.
    case "unreadable":
      return sink.refuse("bad_json", undefined, readClaim(message, {}));
    case "text":
      return readText(content.text, message, sink);
    case "json":
      return yield* readMessages(content.value, message, sink);
  }
}

function readText(text: string, message: ClientMessage, sink: MessageSink): void {
  const members = readCsvLine(text);
  const point =
    members === null ? null : readLocation(members, { ...message, speedUnit: message.speedUnit ?? "kmh" });
  if (point === null) sink.refuse("unknown_shape", undefined, readClaim(message, {}));
  else sink.add(point, text);
}

function* readMessages(value: unknown, message: ClientMessage, sink: MessageSink): Steps<void> {
  const list = listOf(value);
  if (list === null) return yield* readOne(value, message, sink, undefined);
  let count = 0;
  for (const one of list) {
    yield* readOne(one, message, sink, [one]);
    if (++count % POINTS_A_STEP === 0) yield;
  }
  if (count === 0) sink.skip("empty message");
}

/** `raw` is stored if the message can't be used; undefined means the whole body. */
function* readOne(value: unknown, message: ClientMessage, sink: MessageSink, raw: unknown): Steps<void> {
  if (!isObject(value) || typeof value._type !== "string")
    return sink.refuse("unknown_shape", raw, readClaim(message, {}));
  if (isEncrypted(value)) return yield* readEncrypted(value, message, sink, raw);
  // Other types are not stored: some have the user's password, and a transition's position also comes as a location.
  if (value._type !== "location") return sink.skip(skippedAs(value._type));
  const point = readLocation(value, message);
  if (point === null) sink.refuse("no_position", withoutPrivate(value), readClaim(message, value));
  else sink.add(point, withoutPrivate(value));
}

/** The type if it is known, otherwise one common name, because a sender may invent types. */
function skippedAs(type: string): string {
  return MESSAGE_TYPES.has(type) ? type : "other message";
}

const MESSAGE_TYPES = new Set([
  "transition",
  "waypoint",
  "waypoints",
  "status",
  "steps",
  "beacon",
  "card",
  "cmd",
  "dump",
  "configuration",
  "request",
  "lwt",
]);

/** The storable part of a location: without the names of Wi-Fi networks and without the photo, which has megabytes. */
function withoutPrivate(members: Readonly<Record<string, unknown>>): unknown {
  const { SSID: _ssid, BSSID: _bssid, image: _image, ...rest } = members;
  return rest;
}

function* readEncrypted(
  envelope: Encrypted,
  message: ClientMessage,
  sink: MessageSink,
  raw: unknown,
): Steps<void> {
  const from = readClaim(message, envelope);
  const bytes = yield* message.decrypt(deviceOf(from.device, from.user), yield* readBox(envelope));
  // The raw form of a list element lacks long texts, so the whole list is stored then.
  if (bytes === null)
    return sink.refuse("undecryptable", envelope.data instanceof LongText ? undefined : raw, from);
  const clear = yield* readContent(bytes);
  // No app nests boxes; a sender that does wants to keep the server busy.
  if (clear.kind !== "json" || isEncrypted(clear.value)) return sink.refuse("unknown_shape", raw, from);
  yield* readOne(clear.value, message, sink, raw);
}

/*
 * The line that small trackers send to save bytes: X0,542A46AA,k,30365854,7575769,26,4,7,5,872
 *
 *   tid, time in hex, trigger, latitude × 1e6, longitude × 1e6, course ÷ 10, km/h, altitude ÷ 10, distance, trip
 */

const LINE =
  /^([\p{L}\p{N}]{1,16}),([0-9a-f]{1,10}),[a-z0-9]?,(-?\d{1,9}),(-?\d{1,9}),(\d{1,6}),(\d{1,6}),(-?\d{1,6}),\d*,\d*$/iu;

/** The line as the equivalent message; null for any other text. */
function readCsvLine(text: string): Record<string, unknown> | null {
  const fields = LINE.exec(text.trim());
  if (fields === null) return null;
  const [, tid, time, latitude, longitude, course, velocity, altitude] = fields;
  return {
    _type: "location",
    tid,
    tst: Number.parseInt(time!, 16),
    lat: Number(latitude) / 1e6,
    lon: Number(longitude) / 1e6,
    cog: Number(course) * 10,
    vel: Number(velocity),
    alt: Number(altitude) * 10,
  };
}
