import { findDifference } from "../../../reference/difference.ts";
import {
  createReferenceRecords,
  type ReferenceRecord,
  type ReferenceRecords,
  type ReferenceReport,
} from "../../../reference/records.ts";
import { shownRecord } from "../../../reference/shown.ts";
import type { Client } from "../../support/client.ts";
import { findReported, keyOf } from "../../support/load.ts";

/** What the server must know after everything it has acknowledged, and what it may know besides. */
export interface Ledger {
  readonly fleet: ReferenceRecords;
  /** Of all batches together, repeats and replacements too. */
  readonly acknowledgedReports: number;
  acknowledge(reports: readonly ReferenceReport[]): void;
  /** A batch that was sent and never answered: it may be there whole, or not at all. */
  leaveOpen(reports: readonly ReferenceReport[]): void;
  /** Asks what became of the open batches; returns what is wrong where one is there in part. */
  settle(client: Client): Promise<string[]>;
  /** Devices named since the last call. */
  takeTouched(): ReadonlySet<string>;
}

export function createLedger(appId: string): Ledger {
  const fleet = createReferenceRecords(appId);
  let open: (readonly ReferenceReport[])[] = [];
  let touched = new Set<string>();
  let acknowledgedReports = 0;

  function touch(reports: readonly ReferenceReport[]): void {
    for (const { device_id } of reports) touched.add(device_id);
  }

  return {
    fleet,
    get acknowledgedReports() {
      return acknowledgedReports;
    },
    acknowledge(reports) {
      fleet.report(reports);
      touch(reports);
      acknowledgedReports += reports.length;
    },
    leaveOpen(reports) {
      open.push(reports);
      touch(reports);
    },
    async settle(client) {
      const wrong: string[] = [];
      for (const reports of open) {
        const found = await findReported(client, [{ reports, state: "unanswered" }]);
        const [before, after] = [recordsBefore(fleet, reports), recordsAfter(fleet, reports)];
        if (isWhatWasFound(fleet, after, found)) fleet.report(reports);
        else if (!isWhatWasFound(fleet, before, found)) {
          const [first] = reports;
          wrong.push(`a batch of ${reports.length} that begins with ${keyOf(first!)} is there in part`);
        }
      }
      open = [];
      return wrong;
    },
    takeTouched() {
      const taken = touched;
      touched = new Set();
      return taken;
    },
  };
}

/** What the fleet knows of the batch's devices and times, by `keyOf`. */
function recordsBefore(
  fleet: ReferenceRecords,
  reports: readonly ReferenceReport[],
): ReadonlyMap<string, ReferenceRecord> {
  const keys = new Set(reports.map(keyOf));
  const known = new Map<string, ReferenceRecord>();
  for (const deviceId of new Set(reports.map(({ device_id }) => device_id))) {
    for (const record of fleet.recordsOf(deviceId))
      if (keys.has(keyOf(record))) known.set(keyOf(record), record);
  }
  return known;
}

/** The same once the batch is taken in. */
function recordsAfter(
  fleet: ReferenceRecords,
  reports: readonly ReferenceReport[],
): ReadonlyMap<string, ReferenceRecord> {
  const copy = createReferenceRecords(fleet.appId);
  copy.report([...recordsBefore(fleet, reports).values()]);
  copy.report(reports);
  return new Map(copy.records().map((record) => [keyOf(record), record]));
}

function isWhatWasFound(
  fleet: ReferenceRecords,
  expected: ReadonlyMap<string, ReferenceRecord>,
  found: ReadonlyMap<string, ReferenceRecord>,
): boolean {
  if (expected.size !== found.size) return false;
  return [...expected].every(
    ([key, record]) =>
      findDifference(found.get(key), shownRecord(record, "deviceHistory", fleet.appId, null)) === null,
  );
}
