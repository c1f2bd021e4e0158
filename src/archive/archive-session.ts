import type { DeviceId } from "../model/ids.ts";
import type { Connection } from "./duckdb.ts";
import { findRecords, stretchOf } from "./find-records.ts";
import { withLateTable } from "./late-table.ts";
import { createPageDictionary } from "./page-dictionary.ts";
import type { ArchiveScan, ArchiveSession } from "./part-reader.ts";
import { deviceIdsOf, recordPage } from "./record-rows.ts";
import { scanDays } from "./scan-days.ts";
import { createScanRunner, type SharedResources } from "./scan-runner.ts";
import { COUNT_STATEMENT, DEVICES_STATEMENT, PATH_STATEMENT } from "./scan-sql.ts";

/** Answers questions over one connection, until the signal comes. */
export function createArchiveSession(
  connection: Connection,
  signal: AbortSignal,
  shared: SharedResources,
): ArchiveSession {
  const runner = createScanRunner(connection, signal, shared);

  function overLate<Value>({ late }: ArchiveScan, work: () => Promise<Value>): Promise<Value> {
    signal.throwIfAborted();
    return late === null ? work() : withLateTable(connection, late, work);
  }

  return {
    async page(scan, order, offset, limit) {
      const results = await overLate(scan, () => findRecords(runner, scan, order, offset, limit));
      if (shared.dictionary.isFull) shared.dictionary = createPageDictionary();
      return recordPage(results, scan.deviceId, shared.dictionary);
    },
    async count(scan) {
      const days = scanDays(scan);
      const told = days.reduce((sum, { matching }) => sum + (matching ?? 0), 0);
      const untold = days.filter(({ matching }) => matching === null);
      if (untold.length === 0) return told;
      const rows = await overLate(scan, () => runner.run(stretchOf(scan, untold), COUNT_STATEMENT));
      return told + rows.numbers(0)[0]!;
    },
    async devices(scan) {
      const days = scanDays(scan);
      if (days.length === 0) return [];
      const rows = await overLate(scan, () => runner.run(stretchOf(scan, days), DEVICES_STATEMENT));
      return rows.texts(0) as DeviceId[];
    },
    async path(scan) {
      const days = scanDays(scan);
      if (days.length === 0) return NO_PATH;
      const rows = await overLate(scan, () => runner.run(stretchOf(scan, days), PATH_STATEMENT));
      return {
        count: rows.count,
        deviceIds: deviceIdsOf(rows, 2, scan.deviceId),
        latitude: rows.numbers(0),
        longitude: rows.numbers(1),
      };
    },
    get scannedBytes() {
      return runner.scannedBytes;
    },
  };
}

const NO_PATH = {
  count: 0,
  deviceIds: [],
  latitude: new Float64Array(0),
  longitude: new Float64Array(0),
} as const;
