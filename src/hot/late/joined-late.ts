import type { Order, TimeRange } from "../../model/time/range.ts";
import type { UtcDay } from "../../model/time/utc-day.ts";
import type { Cut, DeviceRange, LateSource } from "./late-sources.ts";

/** The late rows of several sources, which have no row in common. */
export class JoinedLate implements LateSource {
  readonly #sources: readonly LateSource[];

  constructor(sources: readonly LateSource[]) {
    this.#sources = sources;
  }

  async know(range: TimeRange): Promise<void> {
    for (const source of this.#sources) await source.know(range);
  }

  /** The shortest of the sources' parts. It may have no rows although it does not say so. */
  async cut(range: TimeRange, order: Order, rowsMax: number, gapMs: number): Promise<Cut> {
    let { startMs, endMs } = range;
    let isEmpty = true;
    for (const source of this.#sources) {
      const share = Math.ceil(rowsMax / this.#sources.length);
      const cut = await source.cut({ startMs, endMs }, order, share, gapMs);
      ({ startMs, endMs } = cut.range);
      isEmpty &&= cut.isEmpty;
    }
    return { range: { startMs, endMs }, isEmpty };
  }

  days(range: TimeRange): UtcDay[] {
    const days = new Set(this.#sources.flatMap((source) => source.days(range)));
    return [...days].sort((a, b) => a - b);
  }

  *deviceRanges(range: TimeRange): Iterable<DeviceRange> {
    for (const source of this.#sources) yield* source.deviceRanges(range);
  }
}
