import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHotStore } from "../src/hot/hot-store.ts";
import { batchesOf } from "./support/batches.ts";
import { type Bench, size } from "./support/bench.ts";
import { readBoston } from "./support/boston.ts";
import { createFleet } from "./support/fleet.ts";
import { BENCH_APP, openLog, writeLog } from "./support/log.ts";
import { type Figure, printFigures, printRatio } from "./support/report.ts";

const DEVICES = 1000;

export const bench: Bench = {
  question:
    "replaying the log into a queryable store, records a second on one core, against JSON.parse of the same reports",
  async run(isSmoke) {
    const boston = readBoston(size(isSmoke, 5000, 500_000));
    if (boston !== null) await replay("Boston track", boston, isSmoke);
    const fleet = createFleet({
      devices: DEVICES,
      seed: 4,
      startMs: Date.now() - 86_400_000,
      stepMs: 60_000,
    });
    const rounds = Array.from({ length: size(isSmoke, 5, 500) }, (_, round) => fleet.round(round));
    await replay("full reports", rounds.flat(), isSmoke);
  },
};

async function replay(name: string, reports: readonly object[], isSmoke: boolean): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "wherehouse-replay-"));
  try {
    const bytes = await writeLog(directory, reports);
    const direct = createHotStore();
    batchesOf(reports, 1000).forEach((batch, index) => {
      direct.apply(BENCH_APP, batch, index + 1);
    });
    const lines = reports.map((report) => JSON.stringify(report));
    const ours: number[] = [];
    const control: number[] = [];
    for (let run = 0; run < size(isSmoke, 1, 7); run++) {
      const parseMs = performance.now();
      for (const line of lines) JSON.parse(line);
      control.push(rate(reports.length, parseMs));
      const replayMs = performance.now();
      const hot = createHotStore();
      const { wal, recovery } = await openLog(directory, ({ appId, batch, sequence }) =>
        hot.apply(appId, batch, sequence),
      );
      ours.push(rate(reports.length, replayMs));
      await wal.close();
      if (recovery.records !== reports.length || hot.recordCount !== direct.recordCount) {
        throw new Error(`${hot.recordCount} of ${direct.recordCount} records came back`);
      }
    }
    const each = (bytes / reports.length).toFixed(1);
    console.log(`  ${name}: ${reports.length.toLocaleString("en")} reports, ${each} bytes each in the log`);
    const figures: [Figure, Figure] = [
      { name: "replay", unit: "records/s (wanted: at least 1,000,000)", runs: ours },
      { name: "JSON.parse, a line a report", unit: "records/s", runs: control },
    ];
    printFigures(figures);
    printRatio("times JSON.parse", ...figures, "no bound");
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function rate(count: number, startMs: number): number {
  return count / ((performance.now() - startMs) / 1000);
}
