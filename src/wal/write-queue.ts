import type { Result } from "../lib/result.ts";
import type { AppId } from "../model/ids.ts";
import type { ReportBatch } from "../model/report-batch.ts";
import type { UtcDay } from "../model/time/utc-day.ts";
import { addBatchDays } from "./batch-parts.ts";
import type { LogRefusal } from "./log.ts";

/** An entry that waits for the disk. */
interface WaitingEntry {
  readonly frame: Uint8Array<ArrayBuffer>;
  readonly appId: AppId;
  readonly batch: ReportBatch;
  resolve(outcome: Result<number, LogRefusal>): void;
}

/** Entries that are written at once. */
export interface WriteGroup {
  readonly entries: readonly WaitingEntry[];
  /** How many reports of each day they have. */
  readonly reports: ReadonlyMap<UtcDay, number>;
  readonly bytes: number;
}

/** Encoded entries on their way to the disk, up to a bound of their bytes. All that wait make the next group. */
export class WriteQueue {
  /** Of entries that wait, and of those that are being written. */
  bytes = 0;
  readonly #bytesMax: number;
  #entries: WaitingEntry[] = [];
  #reports = new Map<UtcDay, number>();
  #groupBytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /**
   * Whether there is room for so many bytes. An entry that is larger than all of it is taken when nothing else waits.
   */
  hasRoom(frameBytes: number): boolean {
    return this.bytes === 0 || this.bytes + frameBytes <= this.#bytesMax;
  }

  /** Resolves as the writer resolves the entry. */
  add(frame: Uint8Array<ArrayBuffer>, appId: AppId, batch: ReportBatch): Promise<Result<number, LogRefusal>> {
    this.bytes += frame.length;
    const outcome = new Promise<Result<number, LogRefusal>>((resolve) => {
      this.#entries.push({ frame, appId, batch, resolve });
    });
    this.#groupBytes += frame.length;
    addBatchDays(batch, this.#reports);
    return outcome;
  }

  /** All that wait: what is added from now on makes another group. */
  take(): WriteGroup {
    const group = { entries: this.#entries, reports: this.#reports, bytes: this.#groupBytes };
    this.#entries = [];
    this.#reports = new Map();
    this.#groupBytes = 0;
    return group;
  }

  /** The group is on the disk, or refused. */
  release({ bytes }: WriteGroup): void {
    this.bytes -= bytes;
  }
}
