import { WRITE_FORMATS } from "../../../src/formats/write/formats.ts";
import { DEFAULT_GAP_MS, type WriteFormat } from "../../../src/formats/write/record-writer.ts";
import { type RecordColumns, recordColumns } from "../../../src/model/record-columns.ts";
import { type Figure, median } from "../../support/figures/report.ts";
import { batchesOf } from "../../support/fleets/batches.ts";
import { createFleet } from "../../support/fleets/fleet.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";
import { processorMicros } from "../../support/run/processor-time.ts";

/** Required full records per second of processor time: enough that no writer limits an export of an archived year. */
const WANTED: Readonly<Record<string, number>> = { ndjson: 700_000, geojson: 450_000 };

/** The number of records per call of an export. */
const RECORDS_A_CALL = 2000;
const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2026, 0, 1);

const PLAIN = {
  zone: null,
  redact: false,
  recordSeparator: false,
  gapMs: DEFAULT_GAP_MS,
  simplifyMeters: null,
};

export const bench: Bench = {
  question: "how many full records a second does a thread write in each text format?",
  sizes: {
    records: { help: "of one device", smoke: 4000, full: 100_000 },
    runs: { help: "times that they are written", smoke: 1, full: 9 },
    seed: { help: "of the device", smoke: 4, full: 4 },
  },
  async run(run) {
    const fleet = createFleet({ devices: 1, seed: run.size("seed"), startMs: START_MS, stepMs: MINUTE_MS });
    const reports = Array.from({ length: run.size("records") }, (_, round) => fleet.round(round)).flat();
    const pieces = [...batchesOf(reports, RECORDS_A_CALL)].map(recordColumns);
    const ours = WRITE_FORMATS.map(({ name }) => ({ name, unit: "records/s", runs: [] as number[] }));
    const control = { name: "JSON.stringify, a line a report", unit: "records/s", runs: [] as number[] };
    // In turns, so that other load affects all alike.
    for (let turn = 0; turn < run.size("runs"); turn++) {
      control.runs.push(rateOf(reports.length, () => stringify(reports)));
      for (const [index, format] of WRITE_FORMATS.entries())
        ours[index]!.runs.push(rateOf(reports.length, () => write(format, pieces)));
    }
    run.figures([...ours, control]);
    verdicts(run, ours, control);
  },
};

function verdicts(run: BenchRun, figures: readonly Figure[], control: Figure): void {
  for (const figure of figures) {
    const atLeast = WANTED[figure.name];
    if (atLeast !== undefined) run.verdict(figure.name, median(figure.runs), "records/s", { atLeast });
  }
  run.ratio("ndjson, times JSON.stringify", figures.find(({ name }) => name === "ndjson")!, control);
}

function rateOf(records: number, work: () => number): number {
  const startMicros = processorMicros();
  if (work() === 0) throw new Error("nothing was written");
  return records / ((processorMicros() - startMicros) / 1e6);
}

function write(format: WriteFormat, pieces: readonly RecordColumns[]): number {
  const writer = format.create(PLAIN);
  let bytes = writer.begin().length;
  for (const piece of pieces) bytes += writer.write(piece).length;
  return bytes + writer.end().length;
}

function stringify(reports: readonly object[]): number {
  const encoder = new TextEncoder();
  let bytes = 0;
  for (const report of reports) bytes += encoder.encode(`${JSON.stringify(report)}\n`).length;
  return bytes;
}
