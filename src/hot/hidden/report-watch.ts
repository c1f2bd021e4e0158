import type { AppId, DeviceId } from "../../model/ids.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import type { TimeRange } from "../../model/time/range.ts";
import type { Aliases } from "./aliases.ts";

/** A report that came while it was watched. */
export interface WatchedReport {
  readonly batch: ReportBatch;
  readonly row: number;
  /** The device that it showed as. */
  readonly shownId: DeviceId;
  /** The entry of the log. */
  readonly sequence: number;
}

/** A range of what shows as a device. */
export interface WatchedRange extends TimeRange {
  readonly deviceId: DeviceId;
}

/** Notes reports that come while a correction reads the records of some ranges. */
export class ReportWatch {
  readonly reports: WatchedReport[] = [];
  readonly #ranges: readonly WatchedRange[];
  readonly #onEnd: (watch: ReportWatch) => void;

  constructor(ranges: readonly WatchedRange[], onEnd: (watch: ReportWatch) => void) {
    this.#ranges = ranges;
    this.#onEnd = onEnd;
  }

  /** `aliases` is null if no device shows as another. */
  note(batch: ReportBatch, sequence: number, aliases: Aliases | null): void {
    const { count, texts, device, timestampMs } = batch;
    for (let row = 0; row < count; row++) {
      const deviceId = texts[device[row]!]! as DeviceId;
      const shownId = aliases?.of(deviceId)?.shownId ?? deviceId;
      if (this.#watches(shownId, timestampMs[row]!)) this.reports.push({ batch, row, shownId, sequence });
    }
  }

  #watches(shownId: DeviceId, timeMs: number): boolean {
    return this.#ranges.some(
      ({ deviceId, startMs, endMs }) => deviceId === shownId && timeMs >= startMs && timeMs < endMs,
    );
  }

  end(): void {
    this.#onEnd(this);
  }
}

/** The watches of all apps. */
export class ReportWatches {
  readonly #watches = new Map<ReportWatch, AppId>();

  begin(appId: AppId, ranges: readonly WatchedRange[]): ReportWatch {
    const watch = new ReportWatch(ranges, (ended) => this.#watches.delete(ended));
    this.#watches.set(watch, appId);
    return watch;
  }

  note(appId: AppId, batch: ReportBatch, sequence: number, aliases: Aliases | null): void {
    for (const [watch, watchedId] of this.#watches)
      if (watchedId === appId) watch.note(batch, sequence, aliases);
  }
}
