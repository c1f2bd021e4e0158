import { fail, ok, type Result } from "../../lib/result.ts";
import { inOneStep } from "../../lib/schedule/steps.ts";
import { hasNumber, joinedNumbers } from "../../lib/tables/sorted-numbers.ts";
import { ACTIVE_CORRECTIONS_MAX, ALIASES_OF_DEVICE_MAX } from "../../model/correction.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { nextUtcDay, type UtcDay, utcDayStartMs } from "../../model/time/utc-day.ts";
import { type Caller, findDevice } from "../queries/find-device.ts";
import { planStretches } from "../queries/history/plan.ts";
import type { PositionBlock, PositionReading } from "../queries/positions.ts";
import type { NewCorrection } from "./new-correction.ts";
import type { NewestDependencies } from "./newest-record.ts";
import { assignedError, changesOf, type Preview } from "./plan-correction.ts";
import { readRecords } from "./read-records.ts";
import { SAMPLE_RECORDS_MAX } from "./select-records.ts";

/** What the assignment of a whole device touches by now. What it reports later is touched as well. */
export interface AssignmentPlan {
  readonly records: number;
  readonly firstMs: number | null;
  readonly lastMs: number | null;
  /** The times of the first records. */
  readonly first: Float64Array;
}

/** Days whose records are read together: a device that reports each second has 600,000 in them, 5 MB of times. */
const DAYS_AT_ONCE = 7;
/** Times that an error names. */
const NAMED_TIMES_MAX = 3;

/**
 * Counts the records of a device that is to show as another, or as another user's, and finds why it can't. A device may
 * show others: all of them then show as the last one. Neither device may be assigned, so a chain is undone from its
 * end.
 */
export async function planAssignment(
  dependencies: NewestDependencies,
  appId: AppId,
  { deviceId, target }: Pick<NewCorrection, "deviceId" | "target">,
  caller: Caller,
): Promise<Result<AssignmentPlan, ServiceError>> {
  const { hot } = dependencies;
  const toId = target!.deviceId;
  const fault = linkFault(dependencies, appId, deviceId, toId);
  if (fault !== null) return fail(fault);
  const known = findDevice(dependencies, appId, deviceId);
  if (!known.ok) return known;
  if ((hot.corrections.find(appId)?.active ?? 0) >= ACTIVE_CORRECTIONS_MAX) {
    const message = `an app has at most ${ACTIVE_CORRECTIONS_MAX} active corrections: undo some`;
    return fail({ kind: "invalid_parameter", message });
  }
  const corrections = hot.corrections.find(appId);
  const aliases = corrections?.aliases;
  // Both devices, or one and its stage, and those that show as one of them.
  const ids = new Set([deviceId, toId]);
  const together = [...ids].reduce((sum, id) => sum + (aliases?.shownAs(id).length ?? 0), 2);
  if (together > ALIASES_OF_DEVICE_MAX) {
    const message = `at most ${ALIASES_OF_DEVICE_MAX} devices show as one: undo one of their assignments first`;
    return fail({ kind: "invalid_parameter", message });
  }
  let records = 0;
  let firstMs: number | null = null;
  let lastMs: number | null = null;
  let first: Float64Array = NO_TIMES;
  for (const range of rangesWithRecords(dependencies)) {
    const own = await readTimes(dependencies, appId, deviceId, range, caller);
    if (!own.ok) return own;
    const times = own.value;
    if (times.length === 0) continue;
    records += times.length;
    firstMs ??= times[0]!;
    lastMs = times.at(-1)!;
    if (first.length < SAMPLE_RECORDS_MAX)
      first = joinedNumbers([first, times]).subarray(0, SAMPLE_RECORDS_MAX);
    if (toId === deviceId) continue;
    const isKnown = findDevice(dependencies, appId, toId).ok; // It may not have reported yet.
    const theirs = isKnown ? await readTimes(dependencies, appId, toId, range, caller) : ok(NO_TIMES);
    if (!theirs.ok) return theirs;
    const isTaken = (timeMs: number) =>
      hasNumber(theirs.value, timeMs) || corrections?.isHidden(toId, timeMs) === true;
    const both = times.filter(isTaken);
    if (both.length > 0) return fail(takenError(deviceId, toId, both));
  }
  return ok({ records, firstMs, lastMs, first });
}

/** What an assignment would touch, with the first of its records. */
export async function previewAssignment(
  dependencies: NewestDependencies,
  appId: AppId,
  wanted: Pick<NewCorrection, "action" | "deviceId" | "target">,
  caller: Caller,
): Promise<Result<Preview, ServiceError>> {
  const planned = await planAssignment(dependencies, appId, wanted, caller);
  if (!planned.ok) return planned;
  const { first, ...range } = planned.value;
  const read = await readRecords(dependencies.history, appId, wanted.deviceId, first, caller);
  if (!read.ok) return read;
  const sample = read.value.pieces.flatMap((piece) => changesOf(piece, wanted.action, wanted.target!));
  return ok({ ...range, sample });
}

function linkFault(
  { hot }: Pick<NewestDependencies, "hot">,
  appId: AppId,
  deviceId: DeviceId,
  toId: DeviceId,
): ServiceError | null {
  const aliases = hot.corrections.find(appId)?.aliases;
  for (const id of [deviceId, toId]) {
    const link = aliases?.linkOf(id) ?? null;
    if (link !== null) return assignedError(id, link);
  }
  return null;
}

function takenError(deviceId: DeviceId, toId: DeviceId, times: Float64Array): ServiceError {
  const timestampMs = [...times.subarray(0, NAMED_TIMES_MAX)];
  return { kind: "records_exist", deviceId, toId, timestampMs, hasMore: times.length > NAMED_TIMES_MAX };
}

/** Ranges that together have all records of all apps that are retained. */
function* rangesWithRecords({
  hot,
  archive,
  clock,
  retention,
}: Pick<NewestDependencies, "hot" | "archive" | "clock" | "retention">): Iterable<TimeRange> {
  const startMs = Math.max(0, retention.startMs(clock.nowMs()));
  const stretches = planStretches(hot, archive().manifest, { startMs, endMs: LAST_MS });
  let first: UtcDay | null = null;
  let last: UtcDay | null = null;
  for (const day of stretches.flatMap(({ days }) => days)) {
    if (first !== null && day - first >= DAYS_AT_ONCE) {
      yield rangeOf(first, last!);
      first = null;
    }
    first ??= day;
    last = day;
  }
  if (first !== null) yield rangeOf(first, last!);
}

/** The last instant that a date may have. */
const LAST_MS = 8_640_000_000_000_000;

function rangeOf(first: UtcDay, last: UtcDay): TimeRange {
  return { startMs: utcDayStartMs(first), endMs: utcDayStartMs(nextUtcDay(last)) };
}

const NO_TIMES = new Float64Array(0);

async function readTimes(
  { readPositions }: Pick<NewestDependencies, "readPositions">,
  appId: AppId,
  deviceId: DeviceId,
  range: TimeRange,
  caller: Caller,
): Promise<Result<Float64Array, ServiceError>> {
  const query = { deviceId, range, fields: [] };
  const read = await readPositions(appId, query, caller, () => new TimesReading());
  return read.ok ? ok(read.value.value) : read;
}

class TimesReading implements PositionReading<Float64Array> {
  readonly #pieces: Float64Array[] = [];

  add({ count, timestampMs }: PositionBlock): void {
    this.#pieces.push(timestampMs.slice(0, count));
  }

  end() {
    return inOneStep(() => joinedNumbers(this.#pieces));
  }
}
