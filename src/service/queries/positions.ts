import type { Device } from "../../hot/devices/device.ts";
import { PositionBlocks } from "../../hot/scan/position-blocks.ts";
import type { Result } from "../../lib/result.ts";
import type { MaybePromise } from "../../lib/schedule/maybe-promise.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";
import type { NumberFieldName } from "../../model/location-fields.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { type Caller, findDevice, retainedRange } from "./find-device.ts";
import {
  createReadStretches,
  type HistoryDependencies,
  type RangeAnswer,
  type StretchSink,
} from "./history/read-stretches.ts";

/*
 * A device's positions in columns, for tracks, plots and stops. Records of memory are read directly, those of the
 * archive with late rows laid over them.
 */

/** After a longer silence the path is unknown, and also whether the device stayed, unless it is next seen there. */
export const SILENCE_MS_MAX = 10 * 60_000;
/** Faster than ground vehicles and airliners: one position is wrong, or of another device. */
export const SPEED_MAX_METERS_PER_SECOND = 400;

/** Consecutive records of one device; valid until the next block. */
export interface PositionBlock {
  readonly count: number;
  /** Unix ms, ascending, each once. */
  readonly timestampMs: Float64Array;
  /** Degrees. */
  readonly latitude: Float64Array;
  readonly longitude: Float64Array;
  /** The requested fields, in that order; NaN if a record has none. */
  readonly numbers: readonly Float64Array[];
}

/** Computes a value from records, block by block. */
export interface PositionReading<Value> {
  /** Takes about 0.1 ms for a block of a few thousand records. */
  add(block: PositionBlock): void;
  /** Longer work, if any, before the next block. */
  work?(): Steps<void>;
  /** Completes the value after the last block. */
  end(): Steps<Value>;
}

export interface PositionsQuery {
  readonly deviceId: string;
  /** The part before the retention is ignored. */
  readonly range: TimeRange;
  readonly fields: readonly NumberFieldName[];
}

/**
 * Reads a device's records from memory and archive, oldest first, with late reports laid over them. Begins again, with
 * another reading, if a seal moved records meanwhile.
 */
export type ReadPositions = <Value>(
  appId: AppId,
  query: PositionsQuery,
  caller: Caller,
  begin: () => PositionReading<Value>,
) => MaybePromise<Result<RangeAnswer<Value>, ServiceError>>;

/** Rows of the archive in one block. */
const BLOCK_ROWS = 2048;

export function createReadPositions(dependencies: HistoryDependencies): ReadPositions {
  const readStretches = createReadStretches(dependencies);
  return function readPositions(appId, { deviceId, range, fields }, caller, begin) {
    const match = findDevice(dependencies, appId, deviceId);
    if (!match.ok) return match;
    const { device } = match.value;
    const whose = { appId, device, range: retainedRange(dependencies, range) };
    return readStretches(whose, caller, () => positionSink(device, fields, begin()));
  };
}

function positionSink<Value>(
  device: Device,
  fields: readonly NumberFieldName[],
  reading: PositionReading<Value>,
): StretchSink<PositionBlock, Value> {
  function* addBlock(block: PositionBlock): Steps<void> {
    reading.add(block);
    if (reading.work !== undefined) yield* reading.work();
    yield;
  }

  return {
    *addMemory(range) {
      const blocks = new PositionBlocks(device, range, fields);
      for (let block = blocks.next(); block !== null; block = blocks.next()) yield* addBlock(block);
    },
    read: (session, scan) => session.positions(scan, fields),
    *addRows(rows) {
      for (let from = 0; from < rows.count; from += BLOCK_ROWS) {
        const to = Math.min(rows.count, from + BLOCK_ROWS);
        yield* addBlock({
          count: to - from,
          timestampMs: rows.timestampMs.subarray(from, to),
          latitude: rows.latitude.subarray(from, to),
          longitude: rows.longitude.subarray(from, to),
          numbers: rows.numbers.map((column) => column.subarray(from, to)),
        });
      }
    },
    end: () => reading.end(),
  };
}
