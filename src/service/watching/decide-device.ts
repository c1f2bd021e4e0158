import type { Watch, WatchedRecord } from "../../geofences/watch.ts";
import type { WatchState } from "../../geofences/watch-state.ts";
import { inOneTurn } from "../../lib/schedule/steps.ts";
import type { DeviceId } from "../../model/ids.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { MS_PER_DAY, MS_PER_MINUTE } from "../../model/time/units.ts";
import type { DeviceDecision } from "./device-decision.ts";
import { findPastState } from "./past-state.ts";

/** Which records a decision reads. */
export interface DecidedRange extends TimeRange {
  /** Before this time there are no records. */
  readonly oldestMs: number;
  /** The decision ends here, so that few stored events are compared with it at once; `Infinity` if few are left. */
  readonly cutMs: number;
}

/**
 * Asks for the records of ranges, each of which is answered with all of the device's, oldest first. A null may be a
 * pause.
 */
export type AskForRecords<Value> = Generator<TimeRange | null, Value, readonly WatchedRecord[]>;

/** Time that is read at once: a device that reports each second has 86,400 records in it. */
const READ_MS = MS_PER_DAY;
/** With fewer records than this, the next reading takes twice the time. */
const FEW_RECORDS = 4096;
/** Records before one at hand, which mostly tell the state of a fence that the device has entered. */
const LAST_RECORDS = 8;
/** If they don't, the first look back, for the state of a fence, is this long, and the next ones four times as long. */
const LOOK_BACK_MS = 10 * MS_PER_MINUTE;
/** Records of a step, which takes some milliseconds if fences have many corners. */
const STEP_RECORDS = 32;

/** Events that are decided at once, but for those of the last record: the others of the device follow later. */
const EVENTS_MAX = 256;

/** Has a decision take records of a range. Returns the time up to which it took all of them, `Infinity` at the end. */
export function* decideRecords(
  decision: DeviceDecision,
  deviceId: DeviceId,
  { startMs, endMs, oldestMs, cutMs }: DecidedRange,
): AskForRecords<number> {
  let readMs = READ_MS;
  for (let fromMs = Math.max(startMs, oldestMs); fromMs < endMs; ) {
    const toMs = Math.min(endMs, fromMs + readMs);
    const records = yield { startMs: fromMs, endMs: toMs };
    for (const [index, record] of records.entries()) {
      if (record.timestampMs > cutMs) return cutMs;
      let last = records.slice(Math.max(0, index - LAST_RECORDS), index);
      for (let watch = decision.needsPast(record); watch !== null; watch = decision.needsPast(record)) {
        if (last.length === 0) last = (yield rangeBefore(record, oldestMs)).slice(-LAST_RECORDS);
        const past = inOneTurn(findPastState(watch, deviceId, last, false));
        decision.setPast(watch, past ?? (yield* askForPast(watch, deviceId, record.timestampMs, oldestMs)));
      }
      decision.take(record);
      if (decision.eventCount >= EVENTS_MAX) return record.timestampMs;
      if (index % STEP_RECORDS === STEP_RECORDS - 1) yield null;
    }
    if (records.length < FEW_RECORDS) readMs *= 2;
    fromMs = toMs;
  }
  return cutMs;
}

function rangeBefore({ timestampMs: endMs }: WatchedRecord, oldestMs: number): TimeRange {
  return { startMs: Math.max(oldestMs, endMs - LOOK_BACK_MS), endMs };
}

/** Looks back until the state of a fence before an instant is certain. */
function* askForPast(
  watch: Watch,
  deviceId: DeviceId,
  endMs: number,
  oldestMs: number,
): AskForRecords<WatchState> {
  const firstMs = Math.max(oldestMs, watch.versions[0]!.fromMs);
  for (let backMs = LOOK_BACK_MS; ; backMs *= 4) {
    yield null;
    const startMs = Math.max(firstMs, endMs - backMs);
    const areAll = startMs === firstMs;
    const records = startMs < endMs ? yield { startMs, endMs } : [];
    const finding = findPastState(watch, deviceId, records, areAll);
    for (;;) {
      const step = finding.next();
      if (step.done === true) {
        if (step.value !== null) return step.value;
        break;
      }
      yield null;
    }
  }
}
