import { type HeldWatch, vertexCount } from "../../geofences/held-watch.ts";
import type { WatchesOfApp } from "../../geofences/watch-store.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import type { ServiceError } from "../../model/errors.ts";
import { type WatchEntry, watchBytes } from "../../model/watches/watch-entry.ts";
import { findCrowd } from "./crowd.ts";

/** Fences of an app that exist. */
export const FENCES_MAX = 100_000;
export const ALERTS_MAX = 1000;
/** Vertices and bytes of an app's fences and alerts, with the versions that its records may still need. */
export const VERTICES_OF_APP_MAX = 2_000_000;
export const WATCHES_BYTES_MAX = 64 * 1024 * 1024;
/** Fences whose boxes cover one point, which a report there is compared with. */
export const OVERLAP_MAX = 256;

export interface RoomLimits {
  readonly fences: number;
  readonly alerts: number;
  readonly vertices: number;
  readonly bytes: number;
  readonly overlap: number;
}

export const ROOM_LIMITS: RoomLimits = {
  fences: FENCES_MAX,
  alerts: ALERTS_MAX,
  vertices: VERTICES_OF_APP_MAX,
  bytes: WATCHES_BYTES_MAX,
  overlap: OVERLAP_MAX,
};

/** Entries that a step encodes. */
const STEP_ENTRIES = 32;

/** Why an app has no room for these; null if it has. `replaced` is the one that the only one of them replaces. */
export function* findNoRoom(
  app: WatchesOfApp | null,
  entries: readonly WatchEntry[],
  replaced: HeldWatch | null,
  limits: RoomLimits,
): Steps<ServiceError | null> {
  const counts = { fence: app?.countOf("fence") ?? 0, alert: app?.countOf("alert") ?? 0 };
  if (replaced !== null) counts[replaced.kind]--;
  let [vertices, bytes] = [app?.vertices ?? 0, app?.bytes ?? 0];
  for (const [index, entry] of entries.entries()) {
    if (entry.draft === null) continue;
    counts[entry.watchKind]++;
    vertices += vertexCount(entry.draft.terms);
    bytes += watchBytes(entry);
    if (index % STEP_ENTRIES === STEP_ENTRIES - 1) yield;
  }
  const tooMany = (what: string): ServiceError => ({ kind: "too_many_watches", what });
  if (counts.fence > limits.fences) return tooMany(`${textOf(limits.fences)} geofences`);
  if (counts.alert > limits.alerts) return tooMany(`${textOf(limits.alerts)} alerts`);
  if (vertices > limits.vertices) return tooMany(`${textOf(limits.vertices)} vertices of geofences`);
  if (bytes > limits.bytes) return tooMany(`${limits.bytes / 2 ** 20} MiB of geofences and alerts`);
  return yield* findCrowd(
    app,
    entries.flatMap(({ draft }) => draft ?? []),
    replaced,
    limits.overlap,
  );
}

function textOf(count: number): string {
  return count.toLocaleString("en");
}
