import { type UtcDay, utcDayOf } from "../../../../src/model/time/utc-day.ts";
import { laidOver, type ReferenceRecord } from "../../../reference/records.ts";
import type { RunReport } from "../reports/reports.ts";

/** A batch on its way, or what became of it. */
export interface SentBatch {
  readonly appId: string;
  readonly reports: readonly RunReport[];
  /** Its place in the log, as its answer said or the log was found to hold it; null while nobody knows. */
  sequence: number | null;
}

/** What one report added to a record. */
export interface Contribution {
  readonly batch: SentBatch;
  readonly report: RunReport;
  fate: Fate;
}

/**
 * Whether it must be there; may be missing, and nothing else, since damage may have taken it or the end of the
 * retention; or must be missing, since the end of the retention has surely taken it.
 */
export type Fate = "kept" | "optional" | "deleted";

/** One (app, device, timestamp), and all that was reported of it, in the order of the log. */
export interface RecordHistory {
  readonly deviceId: string;
  readonly timestampMs: number;
  readonly contributions: readonly Contribution[];
}

/**
 * What a data directory must hold: a plain map of what was reported, laid over each other as the contract says. It
 * knows nothing of logs, memory and archives.
 */
export interface RunModel {
  /** Batches that got no answer, or one that does not tell: each is there as a whole, or not at all. */
  readonly open: readonly SentBatch[];
  /** The batch was acknowledged, and everything before it in the log. */
  take(batch: SentBatch): void;
  /** Nobody knows yet whether it is there. */
  leaveOpen(batch: SentBatch): void;
  /** It was found out which of the open batches are there. */
  settle(found: readonly SentBatch[], gone: readonly SentBatch[]): void;
  /** The app's records with some open batches laid over them. */
  histories(appId: string, withOpen: readonly SentBatch[]): Iterable<RecordHistory>;
  /** Contributions that may be missing from now on. */
  loosen(isLost: (appId: string, record: RecordHistory, contribution: Contribution) => boolean): void;
  /** The retention deleted these: nobody sees them again. */
  forget(isDeleted: (day: UtcDay, contribution: Contribution) => boolean): void;
  /** What was deleted may have come back, with a manifest that was made anew. */
  recall(): void;
  /** The days of all records. */
  days(): ReadonlySet<UtcDay>;
  readonly recordCount: number;
  /** Of all that was ever reported; minus infinity where nothing was. */
  readonly newestMs: number;
}

interface MutableHistory extends RecordHistory {
  readonly contributions: Contribution[];
}

function dayOf({ timestampMs }: RecordHistory): UtcDay {
  return utcDayOf(timestampMs);
}

type AppRecords = Map<string, MutableHistory>;

export function createRunModel(): RunModel {
  const apps = new Map<string, AppRecords>();
  let open: SentBatch[] = [];
  let newestMs = Number.NEGATIVE_INFINITY;

  function recordsOf(appId: string): AppRecords {
    const known = apps.get(appId) ?? new Map<string, MutableHistory>();
    apps.set(appId, known);
    return known;
  }

  function noteTimes({ reports }: SentBatch): void {
    for (const { timestamp } of reports) newestMs = Math.max(newestMs, timestamp);
  }

  return {
    get open() {
      return open;
    },
    take(batch) {
      noteTimes(batch);
      lay(recordsOf(batch.appId), batch);
    },
    leaveOpen(batch) {
      noteTimes(batch);
      open.push(batch);
    },
    settle(found, gone) {
      for (const batch of found) lay(recordsOf(batch.appId), batch);
      open = open.filter((batch) => !found.includes(batch) && !gone.includes(batch));
    },
    histories(appId, withOpen) {
      const records = recordsOf(appId);
      if (withOpen.length === 0) return records.values();
      const copied: AppRecords = new Map();
      for (const [key, record] of records) {
        copied.set(key, { ...record, contributions: [...record.contributions] });
      }
      for (const batch of withOpen) lay(copied, batch);
      return copied.values();
    },
    loosen(isLost) {
      forEach(apps, (appId, record, each) => {
        if (each.fate === "kept" && isLost(appId, record, each)) each.fate = "optional";
      });
    },
    forget(isDeleted) {
      forEach(apps, (_, record, each) => {
        if (isDeleted(dayOf(record), each)) each.fate = "deleted";
      });
    },
    recall() {
      forEach(apps, (_, __, each) => {
        if (each.fate === "deleted") each.fate = "optional";
      });
    },
    days: () => new Set([...apps.values()].flatMap((records) => [...records.values()].map(dayOf))),
    get newestMs() {
      return newestMs;
    },
    get recordCount() {
      return [...apps.values()].reduce((sum, records) => sum + records.size, 0);
    },
  };
}

function forEach(
  apps: ReadonlyMap<string, AppRecords>,
  visit: (appId: string, record: RecordHistory, contribution: Contribution) => void,
): void {
  for (const [appId, records] of apps) {
    for (const record of records.values())
      for (const each of record.contributions) visit(appId, record, each);
  }
}

export function recordKey(deviceId: string, timestampMs: number): string {
  return `${deviceId} ${timestampMs}`;
}

function lay(records: AppRecords, batch: SentBatch): void {
  for (const report of batch.reports) {
    const { device_id: deviceId, timestamp: timestampMs } = report;
    const key = recordKey(deviceId, timestampMs);
    const record = records.get(key) ?? { deviceId, timestampMs, contributions: [] };
    const later = record.contributions.findIndex((other) => isBefore(batch, other.batch));
    const at = later < 0 ? record.contributions.length : later;
    record.contributions.splice(at, 0, { batch, report, fate: "kept" });
    records.set(key, record);
  }
}

/** What was left open may be found in the log before what was taken since. */
function isBefore({ sequence }: SentBatch, other: SentBatch): boolean {
  return sequence !== null && other.sequence !== null && sequence < other.sequence;
}

/** More than this are never missing independently of each other: the oldest then go first. */
const OPTIONAL_MAX = 8;

/**
 * What the record may be: one value where nothing of it may be missing, else one for each way that it may; null
 * where it may be missing altogether.
 *
 * A seal may archive what it does not cover: reports that come meanwhile, and all that follow a segment that can't be
 * read. A start then lays the entries it can read over that once more. So what has been lost since may show in the
 * fields that none of them carries.
 */
export function possibleValues(
  { contributions: all }: RecordHistory,
  isLoose: (contribution: Contribution) => boolean,
): readonly (ReferenceRecord | null)[] {
  const contributions = all.filter(({ fate }) => fate !== "deleted");
  const loose = contributions.map((each) => each.fate === "optional" || isLoose(each));
  if (!loose.includes(true)) return [valueOrNone(contributions)];
  const fixed = contributions.filter((_, index) => !loose[index]);
  const fixedBefore = loose.slice(0, loose.lastIndexOf(true)).filter((each) => !each).length;
  const replays = Array.from({ length: fixedBefore + 1 }, (_, from) => fixed.slice(from));
  return waysToMiss(loose).flatMap((isMissing) => {
    const left = contributions.filter((_, index) => !isMissing[index]);
    return replays.map((replayed) => valueOrNone([...left, ...replayed]));
  });
}

/** For each way, which contributions are missing in it. */
function waysToMiss(loose: readonly boolean[]): readonly (readonly boolean[])[] {
  const count = loose.filter(Boolean).length;
  if (count > OPTIONAL_MAX) {
    return Array.from({ length: loose.length + 1 }, (_, from) =>
      loose.map((isLoose, index) => isLoose && index < from),
    );
  }
  return Array.from({ length: 2 ** count }, (_, mask) => {
    let bit = 0;
    return loose.map((isLoose) => isLoose && ((mask >> bit++) & 1) === 1);
  });
}

function valueOrNone(contributions: readonly Contribution[]): ReferenceRecord | null {
  return contributions.reduce<ReferenceRecord | null>((record, { report }) => laidOver(record, report), null);
}
