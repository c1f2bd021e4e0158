import {
  inDirectionOf,
  latitudeOf,
  longitudeOf,
  squaredChord,
  squaredChordOf,
  type UnitVector,
  unitVector,
} from "../../../../src/model/geo/unit-vector.ts";
import type { Stop, StopsQuery } from "../../../../src/service/queries/stops.ts";
import type { Position } from "./paths.ts";

/**
 * The rule of stops as `docs/maps.md` has it, word by word: looks ahead as far as it likes, and adds up all positions
 * of a stay anew for each center.
 */
export function obviousStops(positions: readonly Position[], query: StopsQuery): Stop[] {
  const stops: Stop[] = [];
  for (let start = 0; start < positions.length; ) {
    const stay = stayFrom(positions, start, query);
    const { held, center, strays } = stay;
    const [first, last] = [held[0]!, held.at(-1)!];
    const durationMs = positions[last]!.timestampMs - positions[first]!.timestampMs;
    const away = strays.filter(([from, to]) => from >= first && to <= last);
    const awayMs = away.reduce(
      (sum, [a, b]) => sum + positions[b]!.timestampMs - positions[a]!.timestampMs,
      0,
    );
    if (durationMs >= query.durationMsMin && awayMs < durationMs / 2) {
      stops.push({
        start: positions[first]!.timestampMs,
        end: positions[last]!.timestampMs,
        latitude: Math.round(latitudeOf(center) * 1e7) / 1e7 + 0,
        longitude: Math.round(longitudeOf(center) * 1e7) / 1e7 + 0,
        positions: held.length,
      });
    }
    start = stay.last + 1;
  }
  return stops;
}

/**
 * The stay that begins with a position: its last, those of it that lie within the radius of its center, and between
 * which of its positions there are strays.
 */
function stayFrom(positions: readonly Position[], start: number, query: StopsQuery) {
  const vectors = positions.map(({ latitude, longitude }) => unitVector(latitude, longitude));
  const within = (i: number, center: UnitVector) =>
    squaredChord(vectors[i]!, center) <= squaredChordOf(query.radiusMeters);
  let members = [start];
  const strays: (readonly [from: number, to: number])[] = [];
  const centerOf = (all: readonly number[]) =>
    inDirectionOf(
      all.reduce((sum, i) => sum + vectors[i]!.x, 0),
      all.reduce((sum, i) => sum + vectors[i]!.y, 0),
      all.reduce((sum, i) => sum + vectors[i]!.z, 0),
    );
  for (let last = start; ; ) {
    const center = centerOf(members);
    const next = positions.findIndex((_, i) => i > last && within(i, center));
    if (next < 0 || !isSameStay(positions, last, next, query)) {
      return { last, center, strays, held: members.filter((i) => within(i, center)) };
    }
    if (next > last + 1) strays.push([last, next]);
    last = next;
    members.push(next);
    while (!within(members[0]!, centerOf(members))) members = members.slice(1);
  }
}

function isSameStay(positions: readonly Position[], last: number, next: number, query: StopsQuery): boolean {
  const strays = next - last - 1;
  const awayMs = positions[next]!.timestampMs - positions[last]!.timestampMs;
  if (strays === 0) return true;
  if (strays <= 64 && awayMs <= 60_000) return true;
  return strays <= 2 && awayMs <= 2 * query.durationMsMin;
}
