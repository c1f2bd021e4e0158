import type { AliasLink } from "../../hot/hidden/aliases.ts";
import { countSince } from "../../hot/hidden/held-correction.ts";
import type { HotStore } from "../../hot/hot-store.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import {
  ACTIVE_CORRECTIONS_MAX,
  CORRECTED_RECORDS_MAX,
  CORRECTIONS_DEEP_MAX,
  type CorrectionAction,
  type CorrectionTarget,
} from "../../model/correction.ts";
import { deviceOf } from "../../model/device-alias.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import type { TimeRange } from "../../model/time/range.ts";
import type { Caller } from "../queries/find-device.ts";
import { applyTarget } from "./apply-target.ts";
import type { NewCorrection } from "./new-correction.ts";
import type { NewestDependencies } from "./newest-record.ts";
import { readRecords } from "./read-records.ts";
import { SAMPLE_RECORDS_MAX, type SampleRecord, sampleOf, selectRecords } from "./select-records.ts";
import { findTaken } from "./taken-instants.ts";

/** What a correction would do. */
export interface CorrectionPlan {
  /** The records that it touches, sorted. */
  readonly timestampMs: Float64Array;
  /** These records as answers show them, in pieces; null if the correction needs them not. */
  readonly before: readonly ReportBatch[] | null;
}

/** A record before and after a correction. */
export interface SampleChange {
  readonly before: SampleRecord;
  /** Null if answers show nothing instead. */
  readonly after: SampleRecord | null;
}

/** What a correction would touch. */
export interface Preview {
  readonly records: number;
  readonly firstMs: number | null;
  readonly lastMs: number | null;
  readonly sample: readonly SampleChange[];
}

/** Finds what a correction touches, and whether it can be made. */
export async function planCorrection(
  dependencies: NewestDependencies,
  appId: AppId,
  wanted: NewCorrection,
  caller: Caller,
): Promise<Result<CorrectionPlan, ServiceError>> {
  const { history, readPositions } = dependencies;
  const selected = await selectRecords(readPositions, appId, wanted, caller);
  if (!selected.ok) return selected;
  const { timestampMs } = selected.value;
  if (timestampMs.length === 0) return fail(NO_RECORDS);
  const refusal = await findRefusal(dependencies, appId, wanted, timestampMs, caller);
  if (!refusal.ok) return refusal;
  if (wanted.target === null) return ok({ timestampMs, before: null });
  const read = await readRecords(history, appId, wanted.deviceId, timestampMs, caller);
  if (!read.ok) return read;
  // Another node may have hidden them meanwhile, and an entry without records can't be read.
  if (read.value.timestampMs.length === 0) return fail(NO_RECORDS);
  return ok({ timestampMs: read.value.timestampMs, before: read.value.pieces });
}

const NO_RECORDS: ServiceError = { kind: "invalid_parameter", message: "no record matches the selection" };

/** What a correction would touch, with the first of its records. */
export async function previewCorrection(
  dependencies: NewestDependencies,
  appId: AppId,
  wanted: NewCorrection,
  caller: Caller,
): Promise<Result<Preview, ServiceError>> {
  const { history, readPositions } = dependencies;
  const selected = await selectRecords(readPositions, appId, wanted, caller);
  if (!selected.ok) return selected;
  const { timestampMs } = selected.value;
  const records = timestampMs.length;
  if (records > 0) {
    const refusal = await findRefusal(dependencies, appId, wanted, timestampMs, caller);
    if (!refusal.ok) return refusal;
  }
  const range = { records, firstMs: timestampMs[0] ?? null, lastMs: timestampMs.at(-1) ?? null };
  const { target } = wanted;
  if (target === null)
    return ok({ ...range, sample: selected.value.sample.map((before) => ({ before, after: null })) });
  const first = timestampMs.subarray(0, SAMPLE_RECORDS_MAX);
  const read = await readRecords(history, appId, wanted.deviceId, first, caller);
  if (!read.ok) return read;
  return ok({
    ...range,
    sample: read.value.pieces.flatMap((piece) => changesOf(piece, wanted.action, target)),
  });
}

/** Some records before and after a correction. */
export function changesOf(
  piece: ReportBatch,
  action: CorrectionAction,
  target: CorrectionTarget,
): SampleChange[] {
  const corrected = applyTarget(piece, target);
  const withNames = action === "assign";
  return Array.from({ length: piece.count }, (_, row) => ({
    before: sampleOf(piece, row, withNames),
    after: sampleOf(corrected, row, withNames),
  }));
}

/** Succeeds if a correction of these records can be made. */
async function findRefusal(
  dependencies: NewestDependencies,
  appId: AppId,
  wanted: NewCorrection,
  timestampMs: Float64Array,
  caller: Caller,
): Promise<Result<null, ServiceError>> {
  const { hot, clock, retention } = dependencies;
  const nowMs = clock.nowMs();
  const startMs = retention.startMs(nowMs);
  const message =
    boundFault(hot, appId, wanted, timestampMs.length, startMs) ??
    depthFault(hot, appId, wanted, timestampMs) ??
    timeFault(wanted, timestampMs, { startMs, endMs: nowMs });
  if (message !== null) return fail({ kind: "invalid_parameter", message });
  const { deviceId, target } = wanted;
  if (target === null) return ok(null);
  const link = hot.corrections.find(appId)?.aliases.linkOf(target.deviceId) ?? null;
  if (link !== null && deviceOf(link.toId) !== target.deviceId)
    return fail(assignedError(target.deviceId, link));
  const instant = await findTaken(dependencies, appId, deviceId, target, timestampMs, caller);
  if (!instant.ok) return instant;
  if (instant.value === null) return ok(null);
  return fail({ kind: "record_exists", deviceId: target.deviceId, timestampMs: instant.value });
}

/** The error if a device of a correction is assigned. */
export function assignedError(deviceId: DeviceId, { toId, userId, id }: AliasLink): ServiceError {
  return { kind: "device_assigned", deviceId, toId: deviceOf(toId), userId, correctionId: id };
}

/** Why records can't have other times; null if they can. */
function timeFault(
  { target }: NewCorrection,
  timestampMs: Float64Array,
  { startMs, endMs }: TimeRange,
): string | null {
  const byMs = target?.byMs ?? 0;
  if (byMs === 0) return null;
  const [firstMs, lastMs] = [timestampMs[0]! + byMs, timestampMs.at(-1)! + byMs];
  if (lastMs > endMs) return `by_ms would put a record into the future: at ${lastMs}, and it is ${endMs}`;
  if (firstMs < startMs)
    return `by_ms would put a record before the retention: at ${firstMs}, and that begins at ${startMs}`;
  return null;
}

const NONE = { active: 0, records: 0 };

/** Why a correction of that many records can't be made; null if it can. */
function boundFault(
  hot: Pick<HotStore, "corrections">,
  appId: AppId,
  { action }: NewCorrection,
  records: number,
  startMs: number,
): string | null {
  const app = hot.corrections.find(appId);
  const isNear =
    app !== null && (app.active >= ACTIVE_CORRECTIONS_MAX || app.records + records > CORRECTED_RECORDS_MAX);
  // Expired records don't count, though memory has them until the next seal.
  const { active, records: corrected } = isNear ? countSince(app, startMs) : NONE;
  if (active >= ACTIVE_CORRECTIONS_MAX)
    return `an app has at most ${ACTIVE_CORRECTIONS_MAX} active corrections: undo some, or correct longer ranges at once`;
  if (corrected + records > CORRECTED_RECORDS_MAX)
    return `active corrections of an app touch at most ${CORRECTED_RECORDS_MAX} records, and touch ${corrected}: undo some, or select fewer`;
  if (action === "move" && records > 1)
    return `move changes one record, and the selection has ${records}: select one by timestamps`;
  return null;
}

/** Why a correction can't lie upon those that touched its records before; null if it can. */
function depthFault(
  hot: Pick<HotStore, "corrections">,
  appId: AppId,
  wanted: NewCorrection,
  timestampMs: Float64Array,
): string | null {
  const depth = hot.corrections.find(appId)?.depthUpon(wanted, timestampMs) ?? 1;
  if (depth <= CORRECTIONS_DEEP_MAX) return null;
  return `at most ${CORRECTIONS_DEEP_MAX} active corrections touch one record: undo one of them first`;
}
