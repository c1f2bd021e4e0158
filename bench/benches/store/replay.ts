import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHotStore } from "../../../src/hot/hot-store.ts";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import { applyToMemory } from "../../../src/service/ingest/apply-entry.ts";
import { type Figure, median } from "../../support/figures/report.ts";
import { batchesOf } from "../../support/fleets/batches.ts";
import { readBoston } from "../../support/fleets/boston.ts";
import { createFleet } from "../../support/fleets/fleet.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";
import { BENCH_APP, openLog, writeLog } from "../../support/store/log.ts";

const DEVICES = 1000;

export const bench: Bench = {
  question:
    "replaying the log into a queryable store, records a second on one core, against JSON.parse of the same reports",
  sizes: {
    positions: { help: "positions of the Boston track, at most", smoke: 5000, full: 500_000 },
    reports: { help: "full reports of each of 1,000 devices", smoke: 5, full: 500 },
    runs: { help: "times that each log is replayed", smoke: 1, full: 7 },
    seed: { help: "of the fleet that reports in full", smoke: 4, full: 4 },
  },
  async run(run) {
    const boston = readBoston(run.size("positions"));
    if (boston !== null) await replay(run, "Boston track", boston);
    const fleet = createFleet({
      devices: DEVICES,
      seed: run.size("seed"),
      startMs: Date.now() - 86_400_000,
      stepMs: 60_000,
    });
    const rounds = Array.from({ length: run.size("reports") }, (_, round) => fleet.round(round));
    await replay(run, "full reports", rounds.flat());
  },
};

async function replay(run: BenchRun, name: string, reports: readonly object[]): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "wherehouse-replay-"));
  try {
    const bytes = await writeLog(directory, reports);
    const direct = createHotStore(new Scheduler());
    batchesOf(reports, 1000).forEach((batch, index) => {
      direct.apply(BENCH_APP, batch, index + 1);
    });
    const lines = reports.map((report) => JSON.stringify(report));
    const ours: number[] = [];
    const control: number[] = [];
    for (let index = 0; index < run.size("runs"); index++) {
      const parseMs = performance.now();
      for (const line of lines) JSON.parse(line);
      control.push(rate(reports.length, parseMs));
      const replayMs = performance.now();
      const hot = createHotStore(new Scheduler());
      hot.beginReplay();
      const { wal, recovery } = await openLog(directory, (entry) =>
        applyToMemory({ hot, messages: null }, entry),
      );
      for (const _ of hot.endReplay());
      ours.push(rate(reports.length, replayMs));
      await wal.close();
      if (recovery.records !== reports.length || hot.recordCount !== direct.recordCount) {
        throw new Error(`${hot.recordCount} of ${direct.recordCount} records came back`);
      }
    }
    const each = (bytes / reports.length).toFixed(1);
    run.note(`${name}: ${reports.length.toLocaleString("en")} reports, ${each} bytes each in the log`);
    const figures: [Figure, Figure] = [
      { name: `${name}, replay`, unit: "records/s", runs: ours },
      { name: `${name}, JSON.parse, a line a report`, unit: "records/s", runs: control },
    ];
    run.figures(figures);
    run.verdict(`${name}, replay`, median(ours), "records/s", { atLeast: 1_000_000 });
    run.ratio(`${name}, times JSON.parse`, ...figures);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function rate(count: number, startMs: number): number {
  return count / ((performance.now() - startMs) / 1000);
}
