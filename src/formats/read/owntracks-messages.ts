import type { ClientMessage } from "../../clients/client.ts";
import { deviceOf } from "../../clients/identity.ts";
import { isEncrypted, keyOf, openBox, readBox } from "../../clients/owntracks/encryption.ts";
import { readLocation } from "../../clients/owntracks/location.ts";
import { isJsonObject, type JsonObject } from "../../clients/reading/values.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import type { FilePoint, PointSink } from "./file-point.ts";
import type { ReadOptions } from "./format.ts";

/** Takes the positions from OwnTracks' messages that a file has kept; `topic` is what else tells theirs. */
type ReadMessage = (message: JsonObject, topic: string | null) => void;

export function createReadMessage(sink: PointSink, options: ReadOptions): ReadMessage {
  const open = createOpenMessage(options.passPhrases);
  return (message, topic) => {
    const clear = open(message);
    if (clear === null) sink.skip("encrypted");
    else if (clear._type !== "location") sink.skip("no_location");
    else {
      const point = pointOfMessage(clear, topic, options);
      if (point === null) sink.skip("no_position");
      else sink.add(point);
    }
  };
}

/**
 * A message of `_type` `location` that was kept in a file; null where it has no position. `topic` is the one that it
 * came under, where something else than itself tells it. The Recorder keeps what the apps send, in km/h.
 */
function pointOfMessage(
  members: JsonObject,
  topic: string | null,
  { speedUnit }: Pick<ReadOptions, "speedUnit">,
): FilePoint | null {
  const point = readLocation(members, { ...KEPT, topic, speedUnit: speedUnit ?? "kmh" });
  if (point === null) return null;
  const { device, user, ...rest } = point;
  return { ...rest, device: deviceOf(device, user), user };
}

/** What a message in a file has of one that arrives. */
const KEPT: ClientMessage = {
  arrivedMs: 0,
  content: { kind: "empty" },
  query: new URLSearchParams(),
  headers: {},
  basicUser: null,
  topic: null,
  speedUnit: null,
  // biome-ignore lint/correctness/useYield: nothing that is encrypted is asked for.
  *decrypt() {
    return null;
  },
};

/** Finds what encrypted messages say, with the passphrases that the operator knows. */
type OpenMessage = (message: JsonObject) => JsonObject | null;

/** Null is what can't be opened; a message that is none of those stays as it is. */
function createOpenMessage(passPhrases: readonly string[]): OpenMessage {
  const keys = passPhrases.map(keyOf);
  return (message) => {
    if (!isEncrypted(message)) return message;
    const box = atOnce(readBox(message));
    for (const key of keys) {
      const bytes = atOnce(openBox(key, box));
      const clear = bytes === null ? null : parseMembers(new TextDecoder().decode(bytes));
      // Who puts a box into a box wants to keep us busy.
      if (clear !== null && !isEncrypted(clear)) return clear;
    }
    return null;
  };
}

/** The members of a JSON object; null where a text is none. */
export function parseMembers(text: string): JsonObject | null {
  if (!text.startsWith("{")) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** An import has its turns of the event loop elsewhere. */
function atOnce<Value>(steps: Steps<Value>): Value {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
