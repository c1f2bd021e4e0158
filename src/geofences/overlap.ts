import { type Steps, sortInSteps } from "../lib/schedule/steps.ts";
import { countBefore, hasNumber } from "../lib/tables/sorted-numbers.ts";
import type { Box } from "../model/geo/box.ts";

/** A place, and how many boxes cover it. */
export interface Overlap {
  readonly latitude: number;
  readonly longitude: number;
  readonly count: number;
}

/** Events of the sweep in a step, some tenths of a millisecond. */
const STEP_EVENTS = 256;

/**
 * The place that most of the boxes cover: a line sweeps them from west to east, and a tree over the latitudes where
 * boxes begin counts those that it meets. Edges belong to their boxes.
 */
export function* deepestOverlap(boxes: readonly Box[]): Steps<Overlap> {
  const latitudes = Float64Array.from(new Set(boxes.map(({ minLatitude }) => minLatitude))).sort();
  yield;
  const counts = new RangeCounts(latitudes.length);
  const events = boxes.flatMap((box) => [
    { longitude: box.minLongitude, box, change: 1 },
    { longitude: box.maxLongitude, box, change: -1 },
  ]);
  yield;
  // At one longitude, boxes begin before others end.
  const inOrder = yield* sortInSteps(events, (a, b) => a.longitude - b.longitude || b.change - a.change);
  let deepest: Overlap = { latitude: 0, longitude: 0, count: 0 };
  for (const [index, { longitude, box, change }] of inOrder.entries()) {
    const to = countBefore(latitudes, box.maxLatitude) + (hasNumber(latitudes, box.maxLatitude) ? 1 : 0);
    counts.add(countBefore(latitudes, box.minLatitude), to, change);
    if (change > 0 && counts.greatest > deepest.count)
      deepest = { latitude: latitudes[counts.greatestIndex()]!, longitude, count: counts.greatest };
    if (index % STEP_EVENTS === STEP_EVENTS - 1) yield;
  }
  return deepest;
}

/** Counts by index, of which ranges change and the greatest is known: a segment tree. */
class RangeCounts {
  readonly #size: number;
  /** What was added to all below a node, and the greatest count below it with that. */
  readonly #added: Int32Array;
  readonly #greatest: Int32Array;

  constructor(count: number) {
    this.#size = 1;
    while (this.#size < count) this.#size *= 2;
    this.#added = new Int32Array(2 * this.#size);
    this.#greatest = new Int32Array(2 * this.#size);
  }

  get greatest(): number {
    return this.#greatest[1]!;
  }

  greatestIndex(): number {
    let node = 1;
    while (node < this.#size) {
      const below = this.#greatest[node]! - this.#added[node]!;
      node = this.#greatest[2 * node] === below ? 2 * node : 2 * node + 1;
    }
    return node - this.#size;
  }

  /** Adds to the counts from one index to before another. */
  add(from: number, to: number, change: number, node = 1, first = 0, size = this.#size): void {
    if (from >= first + size || to <= first) return;
    if (from <= first && to >= first + size) {
      this.#added[node] = this.#added[node]! + change;
      this.#greatest[node] = this.#greatest[node]! + change;
      return;
    }
    const half = size / 2;
    this.add(from, to, change, 2 * node, first, half);
    this.add(from, to, change, 2 * node + 1, first + half, half);
    const below = Math.max(this.#greatest[2 * node]!, this.#greatest[2 * node + 1]!);
    this.#greatest[node] = below + this.#added[node]!;
  }
}
