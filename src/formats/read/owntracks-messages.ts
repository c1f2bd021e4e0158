import type { ClientMessage } from "../../clients/client.ts";
import { deviceOf } from "../../clients/identity.ts";
import { isEncrypted, keyOf, openBox, readBox } from "../../clients/owntracks/encryption.ts";
import { readLocation } from "../../clients/owntracks/location.ts";
import { isJsonObject, type JsonObject } from "../../clients/reading/values.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import type { FilePoint, PointSink } from "./file-point.ts";
import type { ReadOptions } from "./format.ts";

/** Reads a saved OwnTracks message. `topic` is the topic known from elsewhere, if any. */
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
 * Reads a message of `_type` `location`; null if it has no position. `topic` is the topic known from elsewhere, if any.
 * The Recorder stores messages as the apps sent them, with speeds in km/h.
 */
function pointOfMessage(
  members: JsonObject,
  topic: string | null,
  { speedUnit }: Pick<ReadOptions, "speedUnit">,
): FilePoint | null {
  const point = readLocation(members, { ...SAVED_MESSAGE, topic, speedUnit: speedUnit ?? "kmh" });
  if (point === null) return null;
  const { device, user, ...rest } = point;
  return { ...rest, device: deviceOf(device, user), user };
}

/** The context of a saved message, which did not arrive over the network. */
const SAVED_MESSAGE: ClientMessage = {
  arrivedMs: 0,
  content: { kind: "empty" },
  query: new URLSearchParams(),
  headers: {},
  basicUser: null,
  topic: null,
  speedUnit: null,
  // biome-ignore lint/correctness/useYield: saved messages are decrypted elsewhere.
  *decrypt() {
    return null;
  },
};

/** Decrypts a message with the operator's passphrases. */
type OpenMessage = (message: JsonObject) => JsonObject | null;

/** Returns null if no passphrase fits; a message that is not encrypted is returned as it is. */
function createOpenMessage(passPhrases: readonly string[]): OpenMessage {
  const keys = passPhrases.map(keyOf);
  return (message) => {
    if (!isEncrypted(message)) return message;
    const box = runToEnd(readBox(message));
    for (const key of keys) {
      const bytes = runToEnd(openBox(key, box));
      const clear = bytes === null ? null : parseMembers(new TextDecoder().decode(bytes));
      // Nested encryption could only waste our time.
      if (clear !== null && !isEncrypted(clear)) return clear;
    }
    return null;
  };
}

/** Returns null if the text is not a JSON object. */
export function parseMembers(text: string): JsonObject | null {
  if (!text.startsWith("{")) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Runs all steps without a pause: an import yields elsewhere. */
function runToEnd<Value>(steps: Steps<Value>): Value {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
