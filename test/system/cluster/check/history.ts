/*
 * What clients did and were told, as it is checked afterwards. A *unit* is a few reports of one device that always
 * travel together, so it has one value at a time, as a register does: a batch either changes all of it or nothing.
 */

/** What became of a request, as far as its client knows. */
export type Outcome =
  | "ok"
  /** It certainly changed nothing. */
  | "failed"
  /** It may have happened, or may happen yet. */
  | "unknown";

interface Operation {
  /** Of the whole machine, in milliseconds, by a clock that only goes forward. */
  readonly startMs: number;
  /** Null where its client was ended before it had an answer. */
  readonly endMs: number | null;
  readonly outcome: Outcome;
  /** The node that was asked, from 0. */
  readonly node: number;
}

/** One batch of reports. */
export interface Put extends Operation {
  readonly kind: "put";
  readonly device: string;
  readonly unit: number;
  readonly value: number;
  /** The next two count reports and are 0 unless it is ok, as is the sequence. */
  readonly accepted: number;
  readonly duplicates: number;
  readonly sequence: number;
}

/** One question about a device. */
export interface Read extends Operation {
  readonly kind: "read";
  readonly device: string;
  /** What it asked for, 0 for anything. */
  readonly minSequence: number;
  /** What the answer says that it knows. */
  readonly sequence: number;
  /** The record of each row that was found, in the order of the answer. */
  readonly rows: readonly Row[];
  /** Whether it is the second try. */
  readonly isRetry: boolean;
}

export interface Row {
  readonly timestamp: number;
  readonly value: number;
}

/** Reports of a unit, a second from one another; the next unit begins ten seconds later. */
export const UNIT_REPORTS = 4;
export const UNIT_MS = 10_000;
export const REPORT_MS = 1000;

/** What a device's rows come to, by unit; what can't be of whole units is told. */
export function unitsOf(device: string, firstMs: number, rows: readonly Row[]): Units {
  const found = new Map<number, Map<number, number>>();
  const faults: string[] = [];
  let twice = 0;
  for (const { timestamp, value } of rows) {
    const unit = Math.floor((timestamp - firstMs) / UNIT_MS);
    const report = (timestamp - firstMs - unit * UNIT_MS) / REPORT_MS;
    const reports = found.get(unit) ?? new Map<number, number>();
    found.set(unit, reports);
    if (reports.has(report)) twice++;
    if (reports.has(report)) faults.push(`${device} has the report ${report} of unit ${unit} twice`);
    reports.set(report, value);
  }
  const values = new Map<number, number>();
  for (const [unit, reports] of found) {
    const distinct = new Set(reports.values());
    if (reports.size !== UNIT_REPORTS || distinct.size !== 1)
      faults.push(`${device} has a part of a batch: unit ${unit} is ${JSON.stringify([...reports])}`);
    values.set(unit, [...distinct].at(-1)!);
  }
  const counts = new Map([...found].map(([unit, reports]) => [unit, reports.size]));
  return { values, counts, faults, twice };
}

export interface Units {
  readonly values: ReadonlyMap<number, number>;
  /** How many of its reports are there. */
  readonly counts: ReadonlyMap<number, number>;
  readonly faults: readonly string[];
  /** Reports that are there once more than once. */
  readonly twice: number;
}
