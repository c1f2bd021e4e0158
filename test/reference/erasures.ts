import { instantsOf, type MadeCorrection, type ReferenceCorrections } from "./corrections.ts";
import { createReferenceRecords, type ReferenceReport } from "./records.ts";

/*
 * Erasures the obvious way: the model strikes the reports of erased records from its log, and corrections of them that
 * are not in the way.
 */

/** The body of a request that erases. */
export interface WantedErasure {
  readonly device_id?: string;
  readonly user_id?: string;
  readonly start?: number;
  readonly end?: number;
}

/** What a request must be answered, and what it destroys. */
export interface PlannedErasure {
  readonly wanted: WantedErasure;
  /**
   * The active corrections that are in the way; of a user also some that may be, since the devices that have had
   * records of the user at any time count.
   */
  readonly inTheWay: ReadonlySet<string>;
  readonly mayBeInTheWay: ReadonlySet<string>;
  /** Records that answers show of it. */
  readonly records: number;
  /** The devices that are erased; null for a user. */
  readonly devices: ReadonlySet<string> | null;
  /** The corrections that go with it; of a user also undone ones that may. */
  readonly going: ReadonlySet<string>;
  readonly mayGo: ReadonlySet<string>;
}

/** Plans an erasure, by the corrections that were made and not forgotten. */
export function planErasure(
  corrections: Pick<ReferenceCorrections, "shown" | "reported" | "laterThan" | "appId">,
  made: readonly MadeCorrection[],
  wanted: WantedErasure,
): PlannedErasure {
  const shown = corrections
    .shown()
    .records()
    .filter((record) => isWithin(wanted, record.timestamp));
  if (wanted.device_id === undefined) {
    const { user_id } = wanted;
    const records = shown.filter((record) => record.user_id === user_id).length;
    const { known, possible } = devicesOfUser(corrections, made, user_id!);
    const inTheWay = (devices: ReadonlySet<string>) =>
      idsOf(made, (each) => each.isActive && isAny(each, devices) && isTouched(each, wanted));
    const mayGo = idsOf(
      made,
      (each) => !each.isActive && isAny(each, possible) && isAbout(each, possible, wanted),
    );
    return {
      ...{ wanted, records, devices: null, going: new Set(), mayGo },
      ...{ inTheWay: inTheWay(known), mayBeInTheWay: inTheWay(possible) },
    };
  }
  const devices = shownAs(made, wanted.device_id);
  const records = shown.filter((record) => record.device_id === wanted.device_id).length;
  const touched = made.filter((each) => each.isActive && isAny(each, devices) && isTouched(each, wanted));
  const [going, held] = [touched.filter(canGo), touched.filter((each) => !canGo(each))];
  const goingIds = new Set(going.map(({ id }) => id));
  const later = going.flatMap(({ id }) => corrections.laterThan(id)).filter((id) => !goingIds.has(id));
  const inTheWay = new Set([...held.map(({ id }) => id), ...later]);
  for (const id of idsOf(made, (each) => !each.isActive && isAbout(each, devices, wanted))) goingIds.add(id);
  return { wanted, records, devices, inTheWay, mayBeInTheWay: inTheWay, going: goingIds, mayGo: goingIds };

  function canGo(correction: MadeCorrection): boolean {
    const { ofDevice, devices: own } = correction;
    if (!devices.has(own[0])) return false;
    return ofDevice === null
      ? instantsOf(correction).every((key) => isWithin(wanted, timeOf(key)))
      : isUnbounded(wanted);
  }
}

/** Whether a report is of an erased record, by all that was reported. */
export function erasedReports(
  { wanted, devices }: PlannedErasure,
  appId: string,
  reported: readonly ReferenceReport[],
): (report: ReferenceReport) => boolean {
  if (devices !== null)
    return ({ device_id, timestamp }) => devices.has(device_id) && isWithin(wanted, timestamp);
  const records = createReferenceRecords(appId);
  records.report(reported);
  const gone = new Set(
    records
      .records()
      .filter(({ user_id, timestamp }) => user_id === wanted.user_id && isWithin(wanted, timestamp))
      .map(keyOf),
  );
  return (report) => gone.has(keyOf(report));
}

/** The devices that have records of a user, and those that have had any at some time, or show any. */
function devicesOfUser(
  { shown, reported, appId }: Pick<ReferenceCorrections, "shown" | "reported" | "appId">,
  made: readonly MadeCorrection[],
  user: string,
) {
  const records = createReferenceRecords(appId);
  records.report(reported());
  const known = new Set<string>();
  for (const { user_id, device_id } of records.records()) if (user_id === user) known.add(device_id);
  for (const { isActive, ofDevice, toUser } of made)
    if (isActive && ofDevice !== null && toUser === user) known.add(ofDevice);
  const rows = made.flatMap((correction) => correction.rows);
  const possible = new Set(known);
  for (const { user_id, device_id } of [...shown().records(), ...reported(), ...rows])
    if (user_id === user) possible.add(device_id);
  return { known, possible };
}

/** A device and those that show as it. */
function shownAs(made: readonly MadeCorrection[], device: string): ReadonlySet<string> {
  const devices = new Set([device]);
  for (const id of devices)
    for (const { isActive, ofDevice, devices: own } of made)
      if (isActive && ofDevice !== null && own[1] === id) devices.add(ofDevice); // A set yields what joins it.
  return devices;
}

function isAny({ devices }: MadeCorrection, some: ReadonlySet<string>): boolean {
  return devices.some((device) => some.has(device));
}

/** Whether any of an active correction's records was or shows in the range. */
function isTouched(correction: MadeCorrection, wanted: WantedErasure): boolean {
  return correction.ofDevice !== null || instantsOf(correction).some((key) => isWithin(wanted, timeOf(key)));
}

/** Whether an undone correction was about any time of the range. */
function isAbout(
  { ofDevice, devices, firstMs, lastMs, byMs }: MadeCorrection,
  some: ReadonlySet<string>,
  wanted: WantedErasure,
): boolean {
  if (ofDevice !== null) return isUnbounded(wanted) && devices.some((device) => some.has(device));
  const { start = Number.NEGATIVE_INFINITY, end = Number.POSITIVE_INFINITY } = wanted;
  return [0, byMs].some(
    (ms, index) => some.has(devices[index]!) && firstMs + ms < end && lastMs + ms >= start,
  );
}

function idsOf(
  made: readonly MadeCorrection[],
  isMeant: (correction: MadeCorrection) => boolean,
): Set<string> {
  return new Set(made.filter(isMeant).map(({ id }) => id));
}

export function isWithin({ start, end }: WantedErasure, timeMs: number): boolean {
  return timeMs >= (start ?? Number.NEGATIVE_INFINITY) && timeMs < (end ?? Number.POSITIVE_INFINITY);
}

function isUnbounded({ start, end }: WantedErasure): boolean {
  return start === undefined && end === undefined;
}

function keyOf({ device_id, timestamp }: ReferenceReport): string {
  return `${timestamp} ${device_id}`;
}

function timeOf(key: string): number {
  return Number.parseInt(key, 10);
}
