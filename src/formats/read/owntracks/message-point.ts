import type { ClientMessage } from "../../../clients/client.ts";
import { deviceOf } from "../../../clients/identity.ts";
import { readLocation } from "../../../clients/owntracks/location.ts";
import type { Members } from "../../../clients/reading/values.ts";
import type { FilePoint } from "../file-point.ts";
import type { ReadOptions } from "../format.ts";

/**
 * A message of `_type` `location` that was kept in a file; null where it has no position. `topic` is the one that it
 * came under, where something else than itself tells it. The Recorder keeps what the apps send, in km/h.
 */
export function pointOfMessage(
  members: Members,
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
