import type { HeldVersion, HeldWatch } from "../../geofences/held-watch.ts";
import { deepestOverlap, type Overlap } from "../../geofences/overlap.ts";
import { createShape } from "../../geofences/shape.ts";
import type { WatchesOfApp } from "../../geofences/watch-store.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { Box } from "../../model/geo/box.ts";
import type { WatchDraft } from "../../model/watches/watch-rules.ts";

/* How many fences a report is compared with: those whose boxes cover its place. */

/** Areas that a step prepares. */
const STEP_AREAS = 32;

/** The error for fences by which too many boxes would cover a point, which names the last of them there; or null. */
export function* findCrowd(
  app: WatchesOfApp | null,
  drafts: readonly WatchDraft[],
  replaced: HeldWatch | null,
  countMax: number,
): Steps<ServiceError | null> {
  const added: { readonly boxes: readonly Box[]; readonly name: string | null }[] = [];
  const known = new Set<HeldVersion>();
  for (const [index, { terms, look }] of drafts.entries()) {
    if (terms.kind !== "fence") continue;
    const { boxes } = createShape(terms.area);
    added.push({ boxes, name: look.name });
    for (const box of boxes)
      for (const version of app?.index.meeting(box) ?? []) {
        const { watch } = version;
        const counts = watch.deletedMs === null && watch !== replaced && version === watch.current;
        if (counts) known.add(version);
      }
    if (index % STEP_AREAS === STEP_AREAS - 1) yield;
  }
  if (known.size + added.length <= countMax) return null;
  const newBoxes = added.flatMap(({ boxes }) => boxes);
  const deepest = yield* deepestOverlap([...Array.from(known, ({ boxes }) => boxes).flat(), ...newBoxes]);
  if (deepest.count <= countMax) return null;
  const last = added.findLast(({ boxes }) => boxes.some((box) => covers(box, deepest)));
  const { latitude, longitude } = deepest;
  return { kind: "fences_overlap", name: last?.name ?? null, latitude, longitude, countMax };
}

function covers(box: Box, { latitude, longitude }: Overlap): boolean {
  return (
    latitude >= box.minLatitude &&
    latitude <= box.maxLatitude &&
    longitude >= box.minLongitude &&
    longitude <= box.maxLongitude
  );
}
