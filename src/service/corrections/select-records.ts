import { fail, ok, type Result } from "../../lib/result.ts";
import { inOneStep } from "../../lib/schedule/steps.ts";
import { CORRECTION_RECORDS_MAX } from "../../model/correction.ts";
import type { ServiceError } from "../../model/errors.ts";
import { ACCURACY, LATITUDE, LONGITUDE } from "../../model/fix.ts";
import type { AppId } from "../../model/ids.ts";
import { PROFILE_FIELDS, profileIndex } from "../../model/location-fields.ts";
import { NOT_CARRIED, type ReportBatch } from "../../model/report-batch.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { MS_PER_DAY } from "../../model/time/units.ts";
import type { Caller } from "../queries/find-device.ts";
import type { PositionBlock, PositionReading, ReadPositions } from "../queries/positions.ts";
import type { NewCorrection, Selection } from "./new-correction.ts";

/** Records of one device as answers show them. */
export interface SelectedRecords {
  /** Sorted. */
  readonly timestampMs: Float64Array;
  /** The first of them. */
  readonly sample: readonly SampleRecord[];
}

export interface SampleRecord {
  readonly timestamp: number;
  readonly latitude: number;
  readonly longitude: number;
  readonly horizontal_accuracy?: number;
  /** Shown if the correction may change them. */
  readonly device_id?: string;
  readonly user_id?: string;
}

/** A row of a batch as a sample shows it; `withNames` shows its device and user. */
export function sampleOf(batch: ReportBatch, row: number, withNames: boolean): SampleRecord {
  const { timestampMs, numbers } = batch;
  const meters = numbers[ACCURACY]![row]!;
  return {
    ...(withNames ? namesOf(batch, row) : {}),
    timestamp: timestampMs[row]!,
    latitude: numbers[LATITUDE]![row]!,
    longitude: numbers[LONGITUDE]![row]!,
    ...(Number.isNaN(meters) ? {} : { horizontal_accuracy: meters }),
  };
}

function namesOf({ texts, device, profiles, profile }: ReportBatch, row: number) {
  const user = profiles[profile[row]! * PROFILE_FIELDS.length + USER]!;
  return {
    device_id: texts[device[row]!]!,
    ...(user === NOT_CARRIED ? {} : { user_id: texts[user]! }),
  };
}

const USER = profileIndex("user_id");

export const SAMPLE_RECORDS_MAX = 100;

/** Finds the records that a correction touches, in memory and archive. */
export async function selectRecords(
  readPositions: ReadPositions,
  appId: AppId,
  { deviceId, selection }: NewCorrection,
  caller: Caller,
): Promise<Result<SelectedRecords, ServiceError>> {
  const reading = new SelectionReading(selection);
  const { timestampMs } = selection;
  for (const range of timestampMs === null ? [selection.range] : rangesOfTimes(timestampMs)) {
    const from = reading.count;
    const query = { deviceId, range, fields: ["horizontal_accuracy"] } as const;
    const read = await readPositions(appId, query, caller, () => reading.beginAt(from));
    if (!read.ok) return read;
  }
  const { count } = reading;
  if (count <= CORRECTION_RECORDS_MAX) return ok(reading.selected());
  const message =
    `the selection has ${count} records, and a correction touches at most ${CORRECTION_RECORDS_MAX}: ` +
    "make several, with shorter ranges from start to end";
  return fail({ kind: "invalid_parameter", message });
}

/** The ranges to read for sorted instants: those that lie far apart are read one by one. */
export function rangesOfTimes(times: Float64Array): TimeRange[] {
  const ranges: TimeRange[] = [];
  for (const timeMs of times) {
    const last = ranges.at(-1);
    if (last !== undefined && timeMs - last.endMs < MS_PER_DAY)
      ranges[ranges.length - 1] = { startMs: last.startMs, endMs: timeMs + 1 };
    else ranges.push({ startMs: timeMs, endMs: timeMs + 1 });
  }
  return ranges;
}

/** Collects matching records. What exceeds the limit is only counted. */
class SelectionReading implements PositionReading<null> {
  readonly #selection: Selection;
  readonly #listed: ReadonlySet<number> | null;
  #times: number[] = [];
  #sample: SampleRecord[] = [];
  count = 0;

  constructor(selection: Selection) {
    this.#selection = selection;
    this.#listed = selection.timestampMs === null ? null : new Set(selection.timestampMs);
  }

  /** Forgets what an attempt that begins again has added. */
  beginAt(count: number): this {
    this.count = count;
    this.#times.length = Math.min(count, this.#times.length);
    this.#sample.length = Math.min(count, this.#sample.length);
    return this;
  }

  add({ count, timestampMs, latitude, longitude, numbers }: PositionBlock): void {
    const [accuracy] = numbers;
    for (let row = 0; row < count; row++) {
      const timestamp = timestampMs[row]!;
      if (this.#listed?.has(timestamp) === false) continue;
      if (!this.#selection.matches(latitude[row]!, longitude[row]!, accuracy![row]!)) continue;
      if (++this.count > CORRECTION_RECORDS_MAX) continue;
      this.#times.push(timestamp);
      if (this.#sample.length === SAMPLE_RECORDS_MAX) continue;
      const meters = accuracy![row]!;
      this.#sample.push({
        timestamp,
        latitude: latitude[row]!,
        longitude: longitude[row]!,
        ...(Number.isNaN(meters) ? {} : { horizontal_accuracy: meters }),
      });
    }
  }

  end() {
    return inOneStep(() => null);
  }

  selected(): SelectedRecords {
    return { timestampMs: Float64Array.from(this.#times), sample: this.#sample };
  }
}
