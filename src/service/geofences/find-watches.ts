import type { HeldWatch } from "../../geofences/held-watch.ts";
import type { WatchesOfApp } from "../../geofences/watch-store.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import type { BoundingBox } from "../../model/geo/bounding-box.ts";
import type { Box } from "../../model/geo/box.ts";
import type { WatchKind } from "../../model/watches/watch-rules.ts";

/* Lists of fences and alerts. */

export interface WatchQuery {
  readonly kind: WatchKind;
  /** Only fences with a box that meets this one; null for all. */
  readonly box: BoundingBox | null;
  /** Only those with this tag; null for all. */
  readonly tag: string | null;
  /** Only those whose name or a tag of which contains this, in either case; null for all. */
  readonly text: string | null;
  readonly offset: number;
  readonly limit: number;
}

export interface WatchPage {
  readonly watches: readonly HeldWatch[];
  readonly total: number;
}

/** Watches looked at in a step, some tenths of a millisecond. */
const STEP_WATCHES = 1024;

/** A page of an app's fences or alerts, in the order in which they were made. */
export function* findWatches(app: WatchesOfApp | null, query: WatchQuery): Steps<WatchPage> {
  const { kind, box, tag, offset, limit } = query;
  const text = query.text?.toLowerCase() ?? null;
  const watches: HeldWatch[] = [];
  let total = 0;
  let seen = 0;
  for (const watch of app?.existing(kind) ?? []) {
    if (++seen % STEP_WATCHES === 0) yield;
    if (tag !== null && !watch.look.tags.includes(tag)) continue;
    if (text !== null && !matches(watch, text)) continue;
    if (box !== null && !watch.current.boxes.some((each) => meets(each, box))) continue;
    if (total >= offset && watches.length < limit) watches.push(watch);
    total++;
  }
  return { watches, total };
}

function matches({ look: { name, tags } }: HeldWatch, text: string): boolean {
  return [name ?? "", ...tags].some((word) => word.toLowerCase().includes(text));
}

/** Whether the two have a point in common. */
function meets({ minLatitude, maxLatitude, minLongitude, maxLongitude }: Box, box: BoundingBox): boolean {
  const { west, south, east, north } = box;
  if (maxLatitude < south || minLatitude > north) return false;
  if (west <= east) return maxLongitude >= west && minLongitude <= east;
  return maxLongitude >= west || minLongitude <= east;
}

/** A fence or an alert of the app that exists; null if there is none. */
export function findWatch(app: WatchesOfApp | null, kind: WatchKind, id: string): HeldWatch | null {
  const watch = app?.byId.get(id);
  return watch?.kind === kind && watch.deletedMs === null ? watch : null;
}
