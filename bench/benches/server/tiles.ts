import { cellAt, mercatorX, mercatorY } from "../../../src/map/mercator.ts";
import { BATCH_REPORTS_MAX } from "../../../src/model/report-batch.ts";
import { longestTurnMs } from "../../support/figures/longest-turn.ts";
import { median } from "../../support/figures/report.ts";
import { batchesOf } from "../../support/fleets/batches.ts";
import { readBoston } from "../../support/fleets/boston.ts";
import { createMetropolis } from "../../support/fleets/metropolis.ts";
import { type AskInProcess, askInProcess } from "../../support/http/in-process.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";
import { processorMicros } from "../../support/run/processor-time.ts";
import { report, temporaryDataDir } from "../../support/store/archived-directory.ts";
import { openServedDirectory } from "../../support/store/served-directory.ts";

const ZOOMS = [0, 9, 11, 12, 13, 16];
const BOSTON = { latitude: 42.355, longitude: -71.06 };

export const bench: Bench = {
  question:
    "tiles of current positions: processor time of one, its bytes, and how long it holds the event loop",
  sizes: {
    devices: { help: "with positions of the Boston track, or of a metropolis", smoke: 2000, full: 200_000 },
    rounds: { help: "times that each is asked", smoke: 2, full: 15 },
    seed: { help: "of the metropolis", smoke: 1, full: 1 },
  },
  async run(run) {
    const served = await openServedDirectory(temporaryDataDir("tiles"));
    try {
      await report(served.directory, batchesOf(reportsOf(run), BATCH_REPORTS_MAX));
      const ask = await askInProcess(served);
      for (const zoom of ZOOMS) await measure(run, ask, zoom);
    } finally {
      await served.directory.close();
    }
  },
};

/** Real positions, a different one for each device. */
function* reportsOf(run: BenchRun): Iterable<object> {
  const devices = run.size("devices");
  const metropolis = createMetropolis({ devices, seed: run.size("seed"), nowMs: Date.now() });
  const boston = readBoston();
  for (let index = 0; index < devices; index++) {
    const full = metropolis.report(index);
    if (boston === null) yield full;
    else {
      // The track has rows of one time together, so each device takes one of another time.
      const { latitude, longitude } = boston[(index * 7919) % boston.length]!;
      yield { ...full, latitude, longitude };
    }
  }
}

async function measure(run: BenchRun, ask: AskInProcess, zoom: number): Promise<void> {
  const [x, y] = [cellAt(mercatorX(BOSTON.longitude), zoom), cellAt(mercatorY(BOSTON.latitude), zoom)];
  const path = `/api/v1/tiles/${zoom}/${x}/${y}.mvt`;
  const runs: number[] = [];
  let bytes = 0;
  for (let round = 0; round < run.size("rounds"); round++) {
    const startMicros = processorMicros();
    const response = await ask(path);
    bytes = (await response.arrayBuffer()).byteLength;
    runs.push((processorMicros() - startMicros) / 1000);
  }
  const name = `zoom ${zoom}`;
  run.figures([{ name, unit: "ms of processor", runs }]);
  run.verdict(`${name}, processor time`, median(runs), "ms");
  run.verdict(`${name}, bytes`, bytes, "");
  run.verdict(`${name}, longest turn`, await longestTurnMs(() => ask(path)), "ms", { atMost: 20 });
}
