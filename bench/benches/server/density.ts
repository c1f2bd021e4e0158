import { cellAt, mercatorX, mercatorY } from "../../../src/map/mercator.ts";
import { BATCH_REPORTS_MAX } from "../../../src/model/report-batch.ts";
import { startOfUtcDayMs } from "../../../src/model/time/retention.ts";
import { MS_PER_DAY } from "../../../src/model/time/units.ts";
import { longestTurnMs } from "../../support/figures/longest-turn.ts";
import { median } from "../../support/figures/report.ts";
import { batchesOf } from "../../support/fleets/batches.ts";
import { readBoston } from "../../support/fleets/boston.ts";
import { type AskInProcess, askInProcess } from "../../support/http/in-process.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";
import { processorMicros } from "../../support/run/processor-time.ts";
import { report, temporaryDataDir } from "../../support/store/archived-directory.ts";
import { openServedDirectory } from "../../support/store/served-directory.ts";

const ZOOMS = [6, 12, 20]; // At more, two cell numbers don't fit into one double.
const CELLS_MAX = 65_536;
/** Long enough ago to be archived. */
const DAYS_AGO = 10;

export const bench: Bench = {
  question:
    "how many positions each cell of the map has: whole answers in process, from memory and from the archive, against a plain loop over the rows",
  sizes: {
    rows: { help: "of the Boston track, at most", smoke: 3000, full: 500_000 },
    rounds: { help: "times that each is asked", smoke: 2, full: 9 },
  },
  async run(run) {
    const boston = readBoston(run.size("rows"));
    if (boston === null) return;
    const served = await openServedDirectory(temporaryDataDir("density"));
    const startMs = startOfUtcDayMs(Date.now()) - DAYS_AGO * MS_PER_DAY;
    const rows = boston.map((row) => ({ ...row, timestamp: startMs + row.timestamp - boston[0]!.timestamp }));
    try {
      await report(served.directory, batchesOf(rows, BATCH_REPORTS_MAX));
      const ask = await askInProcess(served);
      const path = `/api/v1/density?start=${startMs}&end=${startMs + 3 * MS_PER_DAY}`;
      await measure(run, ask, path, "memory", rows);
      await served.directory.schedule.sealNow();
      run.note(`${served.directory.archive.manifest.days.size} archived days`);
      await measure(run, ask, path, "archive", rows);
    } finally {
      await served.directory.close();
    }
  },
};

interface Position {
  readonly latitude: number;
  readonly longitude: number;
}

async function measure(
  run: BenchRun,
  ask: AskInProcess,
  path: string,
  store: string,
  rows: readonly Position[],
): Promise<void> {
  for (const zoom of ZOOMS) {
    const name = `${store}, zoom ${zoom}`;
    const runs: number[] = [];
    const processor: number[] = [];
    let expected = { zoom: 0, cells: 0 };
    const plain: number[] = [];
    for (let round = 0; round < run.size("rounds"); round++) {
      const [startMs, startMicros] = [performance.now(), processorMicros()];
      const answer = await (await ask(`${path}&zoom=${zoom}`)).json();
      runs.push(performance.now() - startMs);
      processor.push((processorMicros() - startMicros) / 1000);
      const plainMs = performance.now();
      expected = countPlainly(rows, zoom);
      plain.push(performance.now() - plainMs);
      const { count, zoom: used } = answer as { count: number[]; zoom: number };
      const all = count.reduce((sum, each) => sum + each, 0);
      if (all !== rows.length || used !== expected.zoom || count.length !== expected.cells)
        throw new Error(`${name} counts otherwise than the plain loop`);
    }
    run.note(`${name}: ${expected.cells} cells at zoom ${expected.zoom}`);
    const figure = { name, unit: "ms", runs };
    const control = { name: `control: a loop with a Map, ${name}`, unit: "ms", runs: plain };
    run.figures([figure, { name: `${name}, processor time`, unit: "ms", runs: processor }, control]);
    run.verdict(`${name}, whole answer`, median(runs), "ms");
    run.verdict(`${name}, longest turn`, await longestTurnMs(() => ask(`${path}&zoom=${zoom}`)), "ms", {
      atMost: 20,
    });
  }
}

function countPlainly(rows: readonly Position[], zoom: number): { zoom: number; cells: number } {
  const counts = new Map<number, number>();
  const bits = zoom + 6;
  for (const { latitude, longitude } of rows) {
    const cell = cellAt(mercatorY(latitude), bits) * 2 ** bits + cellAt(mercatorX(longitude), bits);
    counts.set(cell, (counts.get(cell) ?? 0) + 1);
  }
  return counts.size > CELLS_MAX ? countPlainly(rows, zoom - 1) : { zoom, cells: counts.size };
}
