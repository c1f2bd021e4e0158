import { isDeepStrictEqual } from "node:util";

/** A good report as a client writes it: a member that is null or missing is not carried. */
export interface ReferenceReport {
  readonly device_id: string;
  readonly timestamp: number;
  readonly [member: string]: unknown;
}

/** All that was reported of one device and instant. */
export interface ReferenceRecord extends ReferenceReport {
  readonly user_id: string;
  readonly latitude: number;
  readonly longitude: number;
  readonly horizontal_accuracy?: number;
}

/**
 * What an app must know, written the obvious way: every record of every device in an array. All tests that ask whether
 * something is right compare it with this model or with what `answerOf()` makes of it; none has another.
 */
export interface ReferenceRecords {
  readonly appId: string;
  /** Lays good reports over the records; returns how many of them changed anything. */
  report(reports: readonly Readonly<Record<string, unknown>>[]): number;
  /** In order of their ids' UTF-8 bytes. */
  deviceIds(): readonly string[];
  /** Oldest first; none for an unknown device. */
  recordsOf(deviceId: string): readonly ReferenceRecord[];
  /** All of them, by time and then by device. */
  records(): readonly ReferenceRecord[];
  /** The newest record of each device, by device. */
  newest(): readonly ReferenceRecord[];
}

export function createReferenceRecords(appId: string): ReferenceRecords {
  const tracks = new Map<string, ReferenceRecord[]>();
  let deviceIds: readonly string[] | null = null;
  let records: readonly ReferenceRecord[] | null = null;
  let newest: readonly ReferenceRecord[] | null = null;

  function lay(report: ReferenceReport): boolean {
    const track = tracks.get(report.device_id) ?? [];
    if (track.length === 0) {
      tracks.set(report.device_id, track);
      deviceIds = null;
    }
    let row = track.length;
    while (row > 0 && track[row - 1]!.timestamp > report.timestamp) row--;
    const before = track[row - 1];
    if (before?.timestamp !== report.timestamp) {
      track.splice(row, 0, laidOver(null, report));
      return true;
    }
    const after = laidOver(before, report);
    if (isDeepStrictEqual(before, after)) return false;
    track[row - 1] = after;
    return true;
  }

  const reference: ReferenceRecords = {
    appId,
    report(reports) {
      records = null;
      newest = null;
      return reports.filter((report) => lay(report as ReferenceReport)).length;
    },
    deviceIds() {
      deviceIds ??= [...tracks.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      return deviceIds;
    },
    recordsOf: (deviceId) => tracks.get(deviceId) ?? [],
    records() {
      // The sort is stable: what is in order of devices stays so where times are equal.
      records ??= reference
        .deviceIds()
        .flatMap((deviceId) => reference.recordsOf(deviceId))
        .sort((a, b) => a.timestamp - b.timestamp);
      return records;
    },
    newest() {
      newest ??= reference.deviceIds().map((deviceId) => reference.recordsOf(deviceId).at(-1)!);
      return newest;
    },
  };
  return reference;
}

/** What describes one fix, and is never of two. */
const FIX_MEMBERS = [
  "latitude",
  "longitude",
  "horizontal_accuracy",
  "vertical_accuracy",
  "altitude",
  "speed",
  "bearing",
  "is_mock",
];

/**
 * The contract, word by word. What a report carries replaces, what it leaves out stays, and a record that nobody
 * claimed is nobody's; but of two fixes at different positions the better one stays as a whole, and of two at the same
 * the better accuracy.
 */
export function laidOver(before: ReferenceRecord | null, report: ReferenceReport): ReferenceRecord {
  const carried = Object.fromEntries(
    Object.entries(report).filter(([, value]) => value !== null && value !== undefined),
  ) as ReferenceReport & Partial<ReferenceRecord>;
  const laid = { user_id: "ANONYMOUS", ...before, ...carried } as ReferenceRecord;
  if (before === null) return laid;
  const known = before.horizontal_accuracy ?? Number.POSITIVE_INFINITY;
  const other = carried.horizontal_accuracy ?? Number.POSITIVE_INFINITY;
  if (before.latitude === carried.latitude && before.longitude === carried.longitude) {
    const best = Math.min(known, other);
    return Number.isFinite(best) ? { ...laid, horizontal_accuracy: best } : laid;
  }
  const fix: Readonly<Record<string, unknown>> = other <= known ? carried : before;
  const others = Object.entries(laid).filter(([name]) => !FIX_MEMBERS.includes(name));
  const ofFix = Object.entries(fix).filter(([name]) => FIX_MEMBERS.includes(name));
  return Object.fromEntries([...others, ...ofFix]) as unknown as ReferenceRecord;
}
