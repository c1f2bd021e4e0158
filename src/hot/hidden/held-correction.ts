import { countBefore } from "../../lib/tables/sorted-numbers.ts";
import type { Correction } from "../../model/correction.ts";
import { type CorrectionPiece, type NewestAfter, PIECE_RECORDS_MAX } from "../../model/correction-entry.ts";
import { deviceOf, stageOf } from "../../model/device-alias.ts";
import { isUnbounded } from "../../model/erasure.ts";
import type { DeviceId } from "../../model/ids.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { Aliases } from "./aliases.ts";
import { Instants } from "./instants.ts";

/** A correction and whether it is undone. */
export interface HeldCorrection extends NewestAfter {
  readonly correction: Correction;
  /** The app's number of the entry that made it, or undid it. */
  readonly number: number;
  readonly isActive: boolean;
  /** The times of the records it touches, sorted; empty once it is undone. */
  readonly timestampMs: Float64Array;
  /** How many active corrections lie upon one another where this one does, itself included, at most. */
  readonly depth: number;
  /** By piece, the entry of the log up to which reports are merged into rows that come from a file. */
  readonly rowsUpTo: readonly number[];
}

/** The corrections of one app. */
export class CorrectionsOfApp {
  /** How many corrections and undoings took effect. */
  number = 0;
  /** In the order in which they were made. */
  readonly byId = new Map<string, HeldCorrection>();
  /**
   * By device, or its stage, the instants whose reported records are in no answer: those of corrected records, and
   * those at which corrected records show. Their owners are the numbers of the active corrections.
   */
  readonly hidden = new Map<DeviceId, Instants>();
  /** The devices that show as others. */
  readonly aliases = new Aliases();
  /** By device, the active corrections that take records from it or give it some, in the order of their numbers. */
  readonly activeOf = new Map<DeviceId, HeldCorrection[]>();
  /** Pieces of corrections whose last piece did not come yet, by id. */
  readonly pending = new Map<string, { readonly previous: number; readonly pieces: CorrectionPiece[] }>();
  /** The correction whose rows are coming or going in steps; null if there is none. */
  underWay: HeldCorrection | null = null;
  active = 0;
  /** Records that active corrections touch. */
  records = 0;
  /** The last entry that changed any; 0 if there was none since the start. */
  sequence = 0;
  /** Counts steps of corrections, which move records between those that are shown and those that are hidden. */
  moves = 0;

  isHidden(stage: DeviceId, timestampMs: number): boolean {
    return this.hidden.get(stage)?.has(timestampMs) === true;
  }

  /** Where a correction with a number touches records of a device; one that is made now, unless there is a number. */
  stageFor(deviceId: DeviceId, number = Number.POSITIVE_INFINITY): DeviceId {
    const isLater = this.aliases.hasStage(deviceId) && number > this.aliases.linkOf(deviceId)!.number;
    return isLater ? stageOf(deviceId) : deviceId;
  }

  /** Hides instants of a device for a correction, or not any more. */
  hide(deviceId: DeviceId, timestampMs: Float64Array, number: number, sign: 1 | -1): void {
    const stage = this.stageFor(deviceId, number);
    const hidden = this.hidden.get(stage) ?? new Instants();
    if (sign === 1) hidden.add(timestampMs, number);
    else hidden.remove(timestampMs, number);
    if (hidden.count > 0) this.hidden.set(stage, hidden);
    else this.hidden.delete(stage);
  }

  /** Whether no correction but this one hides an instant. */
  isHiddenOnlyBy({ number }: HeldCorrection, deviceId: DeviceId, timestampMs: number): boolean {
    return this.hidden.get(this.stageFor(deviceId, number))?.isOnlyOf(timestampMs, number) ?? false;
  }

  /** The first active correction after a number that takes a record of an instant, or shows one there, or null. */
  nextTouching(stage: DeviceId, timestampMs: number, afterNumber: number): HeldCorrection | null {
    const number = this.hidden.get(stage)?.ownerAfter(timestampMs, afterNumber) ?? 0;
    return number === 0 ? null : this.#activeWith(deviceOf(stage), number);
  }

  /** The first active correction after a number that takes the record of an instant; null if there is none. */
  takerOf(stage: DeviceId, timestampMs: number, afterNumber: number): HeldCorrection | null {
    let next = this.nextTouching(stage, timestampMs, afterNumber);
    while (next !== null && sourceIndex(next, deviceOf(stage), timestampMs) < 0)
      next = this.nextTouching(stage, timestampMs, next.number);
    return next;
  }

  /**
   * The depth of a correction of some sorted instants. What shows at any instant may be of a device that shows as this
   * one, so it lies upon all corrections of those.
   */
  depthUpon({ deviceId, target }: Pick<Correction, "deviceId" | "target">, times: Float64Array): number {
    let depth = this.#depthOf(deviceId, times, 0);
    if (target !== null) depth = Math.max(depth, this.#depthOf(target.deviceId, times, target.byMs));
    return depth + 1;
  }

  #depthOf(deviceId: DeviceId, times: Float64Array, byMs: number): number {
    let depth = 0;
    for (const alias of this.aliases.shownAs(deviceId))
      for (const item of this.activeOf.get(alias.deviceId) ?? []) depth = Math.max(depth, item.depth);
    for (const number of this.hidden.get(this.stageFor(deviceId))?.ownersAt(times, byMs) ?? [])
      depth = Math.max(depth, this.#activeWith(deviceId, number).depth);
    return depth;
  }

  #activeWith(deviceId: DeviceId, number: number): HeldCorrection {
    const active = this.activeOf.get(deviceId)!;
    let [low, high] = [0, active.length - 1];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (active[middle]!.number < number) low = middle + 1;
      else high = middle;
    }
    return active[low]!;
  }

  /** Puts an active correction on the lists of its devices. */
  list(item: HeldCorrection): void {
    for (const deviceId of devicesOf(item.correction)) {
      const others = this.activeOf.get(deviceId);
      if (others === undefined) this.activeOf.set(deviceId, [item]);
      else others.push(item);
    }
  }

  /** Puts a correction in the place of its former self. */
  replace(item: HeldCorrection, next: HeldCorrection): void {
    this.byId.set(item.correction.id, next);
    for (const deviceId of devicesOf(item.correction)) {
      const others = this.activeOf.get(deviceId);
      if (others !== undefined && item.isActive) others[others.indexOf(item)] = next;
    }
  }

  unlist(item: HeldCorrection): void {
    for (const deviceId of devicesOf(item.correction)) {
      const others = this.activeOf.get(deviceId)!;
      others.splice(others.indexOf(item), 1);
      if (others.length === 0) this.activeOf.delete(deviceId);
    }
  }
}

/**
 * The last time at which a correction's records were or show: once that has expired, it changes no answer. What is
 * about all that a device reports never expires.
 */
export function lastNeededMs({ lastMs, target, isOfDevice }: Correction): number {
  if (isOfDevice === true) return Number.POSITIVE_INFINITY;
  return lastMs + Math.max(0, target?.byMs ?? 0);
}

/** How many active corrections there are, and records that they touch, less those that were expired at an instant. */
export function countSince({ byId }: CorrectionsOfApp, startMs: number) {
  let [active, records] = [0, 0];
  for (const { correction, isActive, timestampMs } of byId.values()) {
    const lastMs = lastNeededMs(correction);
    if (!isActive || lastMs < startMs) continue;
    active++;
    if (timestampMs.length > 0)
      records += timestampMs.length - countBefore(timestampMs, startMs - (lastMs - correction.lastMs));
  }
  return { active, records };
}

/** What a device shows as that a correction assigned: another one, or its own stage. */
export function assignedTo({ deviceId, target }: Correction): DeviceId {
  return target!.deviceId === deviceId ? stageOf(deviceId) : target!.deviceId;
}

/** The devices that a correction touches. */
export function devicesOf({ deviceId, target }: Correction): readonly DeviceId[] {
  return target === null || target.deviceId === deviceId ? [deviceId] : [deviceId, target.deviceId];
}

/**
 * Whether a correction is about records of a device in a range. Of one that touches nothing any more, only the first
 * and the last of its times are known.
 */
export function isAbout(
  { correction, timestampMs }: HeldCorrection,
  deviceId: DeviceId,
  { startMs, endMs }: TimeRange,
): boolean {
  const { firstMs, lastMs, target, isOfDevice } = correction;
  const overlaps = (byMs: number) =>
    timestampMs.length > 0
      ? countBefore(timestampMs, startMs - byMs) < countBefore(timestampMs, endMs - byMs)
      : firstMs + byMs < endMs && lastMs + byMs >= startMs;
  if (!devicesOf(correction).includes(deviceId)) return false;
  return isOfDevice === true
    ? isUnbounded({ startMs, endMs })
    : (correction.deviceId === deviceId && overlaps(0)) ||
        (target?.deviceId === deviceId && overlaps(target.byMs));
}

/** Whether a correction is about records of any of some devices in a range. */
export function isAboutAny(
  item: HeldCorrection,
  deviceIds: ReadonlySet<DeviceId>,
  range: TimeRange,
): boolean {
  return devicesOf(item.correction).some((id) => deviceIds.has(id) && isAbout(item, id, range));
}

/** The times at which answers show the records of an active correction; null if they don't. */
export function targetTimes({ correction: { target }, timestampMs }: HeldCorrection): Float64Array | null {
  if (target === null) return null;
  return target.byMs === 0 ? timestampMs : timestampMs.map((timeMs) => timeMs + target.byMs);
}

/** The index of the correction's record that was at an instant; -1 if there is none. */
export function sourceIndex(
  { correction, timestampMs }: HeldCorrection,
  deviceId: DeviceId,
  timeMs: number,
): number {
  return correction.deviceId === deviceId ? indexIn(timestampMs, timeMs) : -1;
}

/** The index of the correction's record that shows at an instant; -1 if there is none. */
export function targetIndex(
  { correction: { target }, timestampMs }: HeldCorrection,
  deviceId: DeviceId,
  timeMs: number,
): number {
  return target?.deviceId === deviceId ? indexIn(timestampMs, timeMs - target.byMs) : -1;
}

function indexIn(times: Float64Array, timeMs: number): number {
  const index = countBefore(times, timeMs);
  return times[index] === timeMs ? index : -1;
}

/** Whether reports of an entry of the log are in a row of the correction already, since that came from a file. */
export function hasMerged({ rowsUpTo }: HeldCorrection, index: number, sequence: number): boolean {
  return sequence <= (rowsUpTo[Math.floor(index / PIECE_RECORDS_MAX)] ?? 0);
}

/** A row that a correction shows instead of a record, or did until a later correction touched it. */
export interface CorrectedRow {
  readonly item: HeldCorrection;
  readonly index: number;
  /** The device that has it, or its stage. */
  readonly stage: DeviceId;
  readonly timestampMs: number;
  /** The later correction that touches it; null if answers show it. */
  coveredBy: HeldCorrection | null;
  /** The user in which a report comes here: of the last assignment that set one, or null, which keeps the report's. */
  readonly userId: string | null;
}

/**
 * The rows into which a report is merged, unless it shows as it is: the one of the first correction that took the
 * record away, then the one that another correction made of that, and so on. A record of a device that shows as another
 * goes on at that one.
 */
export function rowsAfter(app: CorrectionsOfApp, deviceId: DeviceId, timestampMs: number): CorrectedRow[] {
  const rows: CorrectedRow[] = [];
  let [stage, timeMs, number] = [deviceId, timestampMs, 0];
  let userId: string | null = null;
  /** The row that lies at this stage and time; null if what lies there was reported. */
  let last: CorrectedRow | null = null;
  for (;;) {
    const link = app.aliases.linkOf(stage);
    const next: HeldCorrection | null =
      last === null ? app.nextTouching(stage, timeMs, number) : app.takerOf(stage, timeMs, number);
    if (next === null && link !== null) {
      const first = app.nextTouching(link.toId, timeMs, 0);
      if (first !== null && first.number < link.number) return rows; // It was hidden there already.
      stage = link.toId;
      number = link.number;
      last = null;
      userId = link.userId ?? userId;
      continue;
    }
    if (next === null) return rows;
    if (last !== null) last.coveredBy = next;
    const { target }: Correction = next.correction;
    if (target === null) return rows;
    const source: number = sourceIndex(next, deviceOf(stage), timeMs);
    // Where an assignment led it, a row that is there is shown instead.
    if (source < 0 && last === null && stage !== deviceId) return rows;
    const index: number = source >= 0 ? source : targetIndex(next, deviceOf(stage), timeMs);
    if (source >= 0) {
      stage = app.stageFor(target.deviceId, next.number);
      timeMs += target.byMs;
      userId = target.userId ?? userId;
    }
    number = next.number;
    last = { item: next, index, stage, timestampMs: timeMs, coveredBy: null, userId };
    rows.push(last);
  }
}

/** The active correction that took a row of an earlier one, or is about to; null if answers show it. */
export function coverOf(
  app: CorrectionsOfApp,
  { number }: HeldCorrection,
  stage: DeviceId,
  timestampMs: number,
): HeldCorrection | null {
  const taker = app.takerOf(stage, timestampMs, number);
  const { underWay } = app;
  if (taker !== null || underWay === null) return taker;
  const deviceId = deviceOf(stage);
  const isTaking = underWay.number > number && app.stageFor(deviceId) === stage;
  return isTaking && sourceIndex(underWay, deviceId, timestampMs) >= 0 ? underWay : null;
}
