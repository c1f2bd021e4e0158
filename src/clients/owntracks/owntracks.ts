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

/** OwnTracks for Android and iOS, over HTTP or by a broker, and trackers that write as it does. */
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

/** Points that are read between two steps; an app sends them one by one. */
const POINTS_A_STEP = 32;

/** A message, or a list that begins with one. Those that Overland writes are Overland's. */
function isMessage(value: unknown): boolean {
  const [first] = listOf(value) ?? [value];
  return isObject(first) && typeof first._type === "string" && !isOwnTracksMode(first);
}

function* read(message: ClientMessage, sink: MessageSink): Steps<void> {
  const { content, topic } = message;
  if (topic !== null && topicParts(topic).length < 3) return sink.skip("topic of nobody");
  switch (content.kind) {
    case "empty":
      return sink.skip("empty message"); // A broker is told so to forget what it retained.
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

/** `raw` is what is kept of a message that is none. */
function* readOne(value: unknown, message: ClientMessage, sink: MessageSink, raw: unknown): Steps<void> {
  if (!isObject(value) || typeof value._type !== "string")
    return sink.refuse("unknown_shape", raw, readClaim(message, {}));
  if (isEncrypted(value)) return yield* readEncrypted(value, message, sink, raw);
  // Nothing of the others is kept: some hold the user's password, and a transition's position comes as a location too.
  if (value._type !== "location") return sink.skip(skippedAs(value._type));
  const point = readLocation(value, message);
  if (point === null) sink.refuse("no_position", withoutPrivate(value), readClaim(message, value));
  else sink.add(point, withoutPrivate(value));
}

/** A name for each known type, and one for all others, because a sender may make up any. */
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

/** What may be kept of a location: not the names of Wi-Fi networks, and no photo, which has megabytes. */
function withoutPrivate(members: Readonly<Record<string, unknown>>): unknown {
  const { SSID: _ssid, BSSID: _bssid, image: _image, ...kept } = members;
  return kept;
}

function* readEncrypted(
  envelope: Encrypted,
  message: ClientMessage,
  sink: MessageSink,
  raw: unknown,
): Steps<void> {
  const from = readClaim(message, envelope);
  const bytes = yield* message.decrypt(deviceOf(from.device, from.user), yield* readBox(envelope));
  // A long text is no part of what is kept of a message in a list, so then the list is kept.
  if (bytes === null)
    return sink.refuse("undecryptable", envelope.data instanceof LongText ? undefined : raw, from);
  const clear = yield* readContent(bytes);
  // Who puts a box into a box wants to keep us busy.
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

/** The line as the message that it stands for; null where it is none. */
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
