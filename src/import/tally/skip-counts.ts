import type { SkipReason } from "../../formats/read/file-point.ts";
import type { Skip } from "../reading/import-batch.ts";

/** Skips of one kind: how many, and where the first ones are. */
export interface SkipCount {
  readonly reason: SkipReason;
  /** What is wrong, if the reason does not say so. */
  readonly message: string | null;
  readonly count: number;
  /** At most three, as people read them. */
  readonly places: readonly string[];
}

interface Counting extends SkipCount {
  count: number;
  readonly places: string[];
}

const PLACES_MAX = 3;
/** Separates a file name from a place in the file. */
export const PLACE_MARK = " @ ";
/** There are few different messages, but a foreign server may invent more. */
const MESSAGES_MAX = 100;

/** Reasons whose messages are counted apart. */
const COUNTED_BY_MESSAGE: readonly SkipReason[] = ["rejected", "bad_coordinates"];

/** Counts skips by reason, and by message if the reason does not say what is wrong. */
export class SkipCounts {
  readonly #counts = new Map<string, Counting>();
  #total = 0;

  constructor(before: readonly SkipCount[] = []) {
    for (const each of before) {
      this.#counts.set(keyOf(each.reason, each.message), { ...each, places: [...each.places] });
      this.#total += each.count;
    }
  }

  get total(): number {
    return this.#total;
  }

  add(skip: Skip): void {
    this.#total++;
    const { reason } = skip;
    let message = COUNTED_BY_MESSAGE.includes(reason) ? skip.message : null;
    let key = keyOf(reason, message);
    if (!this.#counts.has(key) && this.#counts.size >= MESSAGES_MAX) {
      message = null;
      key = keyOf(reason, null);
    }
    const counting = this.#counts.get(key) ?? { reason, message, count: 0, places: [] };
    if (counting.count++ === 0) this.#counts.set(key, counting);
    if (counting.places.length < PLACES_MAX) counting.places.push(placeText(skip));
  }

  /** The most frequent first. */
  all(): readonly SkipCount[] {
    return [...this.#counts.values()].sort((a, b) => b.count - a.count);
  }

  count(reason: SkipReason): number {
    return this.all().reduce((sum, each) => (each.reason === reason ? sum + each.count : sum), 0);
  }
}

/** `Records.json @ byte 1,203,442,110` */
export function placeText({ origin, place }: Pick<Skip, "origin" | "place">): string {
  return `${origin.label}${PLACE_MARK}${origin.placeUnit} ${place.toLocaleString("en")}`;
}

function keyOf(reason: SkipReason, message: string | null): string {
  return `${reason} ${message ?? ""}`;
}
