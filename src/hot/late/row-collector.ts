import { MOCK } from "../../model/fix.ts";
import type { DeviceId } from "../../model/ids.ts";
import {
  createReportBatchBuilder,
  type ReportBatchBuilder,
  type RowBatch,
} from "../../model/report-batch.ts";
import type { Device } from "../devices/device.ts";
import { type Chunk, timestampAt } from "../records/chunk.ts";
import type { Dictionary } from "../records/dictionary.ts";
import type { RowRef } from "../records/long-track.ts";
import { ReportCollector } from "../scan/report-collector.ts";
import type { LeftRecord } from "./changed-records.ts";
import { FIX_NUMBERS, MOCK_CELL } from "./late-fixes.ts";

/** Chooses the record to export for a row of a track, and how many of its late fixes; null to skip the row. */
export type PickRow = (chunk: Chunk, row: number) => PickedRow | null;

export interface PickedRow extends RowRef {
  readonly fixCount: number;
}

/** Collects rows of memory and their late fixes for the archive. */
export class RowCollector {
  readonly #rowsMax: number;
  readonly #rows: ReportCollector;
  #fixes: ReportBatchBuilder | null = null;

  constructor(rowsMax: number, dictionary: Dictionary) {
    this.#rowsMax = rowsMax;
    this.#rows = new ReportCollector(rowsMax, dictionary);
  }

  get count(): number {
    return this.#rows.count;
  }

  /** Fixes count like rows: one instant may have as many as a batch. */
  get isFull(): boolean {
    return this.#rows.isFull || (this.#fixes !== null && this.#fixes.count >= this.#rowsMax);
  }

  /**
   * Adds a device's rows from an instant on until the collector is full, perhaps under another id. Returns the instant
   * to continue from.
   */
  addRows(device: Device, fromMs: number, endMs: number, pick: PickRow, id = device.id): number {
    const from = device.countBefore(fromMs);
    const to = Math.min(device.countBefore(endMs), from + this.#rows.room);
    let nextMs = endMs;
    device.runs(from, to, (chunk, rowFrom, rowTo) => {
      for (let row = rowFrom; row < rowTo && nextMs === endMs; row++) {
        if (this.isFull) nextMs = timestampAt(chunk, row);
        else this.#add(id, device, pick(chunk, row));
      }
    });
    if (nextMs < endMs || device.countBefore(endMs) === to) return nextMs;
    const { chunk, row } = device.recordAt(to);
    return timestampAt(chunk, row);
  }

  /** Adds a record that a correction took away, as it was. */
  addLeft(deviceId: DeviceId, { saved, fixes }: LeftRecord): void {
    this.#rows.add(deviceId, saved.chunk, 0);
    for (const fix of fixes)
      addFix(this.#fixBuilder(fixes.length), deviceId, timestampAt(saved.chunk, 0), fix);
  }

  build(): RowBatch {
    return { ...this.#rows.build(), fixes: this.#fixes?.build() ?? null };
  }

  #add(id: DeviceId, { number, columns }: Device, picked: PickedRow | null): void {
    if (picked === null) return;
    const { chunk, row, fixCount } = picked;
    this.#rows.add(id, chunk, row);
    if (fixCount === 0) return;
    const fixes = this.#fixBuilder(fixCount);
    const timestampMs = timestampAt(chunk, row);
    const list = columns.fixes.find(number, timestampMs)!;
    for (let index = 0; index < fixCount; index++) addFix(fixes, id, timestampMs, list.at(index));
  }

  #fixBuilder(expected: number): ReportBatchBuilder {
    this.#fixes ??= createReportBatchBuilder(expected);
    return this.#fixes;
  }
}

/** A row of a track as it is, with all its late fixes. */
export function wholeRow({ number, columns }: Device, chunk: Chunk, row: number): PickedRow {
  return { chunk, row, fixCount: columns.fixes.find(number, timestampAt(chunk, row))?.count ?? 0 };
}

function addFix(builder: ReportBatchBuilder, deviceId: string, timestampMs: number, fix: Float64Array): void {
  builder.begin();
  FIX_NUMBERS.forEach((field, cell) => {
    builder.numbers[field] = fix[cell]!;
  });
  const mock = fix[MOCK_CELL]!;
  if (!Number.isNaN(mock)) builder.state[MOCK] = builder.text(mock === 1 ? "true" : "false");
  builder.add(builder.text(deviceId), timestampMs);
}
