import type { Result } from "../../lib/result.ts";
import type { MaybePromise } from "../../lib/schedule/maybe-promise.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";
import type { NumberFieldName } from "../../model/location-fields.ts";
import type { TimeRange } from "../../model/time/range.ts";
import type { Client } from "./find-device.ts";

/*
 * Where a device was, in columns: what tracks, plots and stops are made from.
 */

/** Records of one device that come one after the other; good until the next block. */
export interface PositionBlock {
  readonly count: number;
  /** Unix ms, ascending, each once. */
  readonly timestampMs: Float64Array;
  /** Degrees. */
  readonly latitude: Float64Array;
  readonly longitude: Float64Array;
  /** The fields that were asked for, in that order; NaN where a record has none. */
  readonly numbers: readonly Float64Array[];
}

/** What a reader makes of the records, block by block. */
export interface PositionReading<Value> {
  /** Takes some 0.1 ms for a block of a few thousand records. */
  add(block: PositionBlock): void;
  /** What it takes longer over, if anything, before the next block comes. */
  work?(): Steps<void>;
  /** What is left to do once all have come. */
  end(): Steps<Value>;
}

export interface PositionsQuery {
  readonly deviceId: string;
  /** What is past the retention is left out of it. */
  readonly range: TimeRange;
  readonly fields: readonly NumberFieldName[];
}

export interface PositionsAnswer<Value> {
  readonly value: Value;
  /** Whether it lacks records whose loss an operator has acknowledged. */
  readonly isIncomplete: boolean;
}

/**
 * Reads a device's records from memory and archive, oldest first, late reports laid over them. Begins anew, with
 * another reading, where a seal moved records meanwhile.
 */
export type ReadPositions = <Value>(
  appId: AppId,
  query: PositionsQuery,
  client: Client,
  begin: () => PositionReading<Value>,
) => MaybePromise<Result<PositionsAnswer<Value>, ServiceError>>;
