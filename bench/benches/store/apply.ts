import { createHotStore } from "../../../src/hot/hot-store.ts";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../../../src/model/location-fields.ts";
import type { ReportBatch } from "../../../src/model/report-batch.ts";
import { type Figure, median } from "../../support/figures/report.ts";
import { batchesOf } from "../../support/fleets/batches.ts";
import type { FullReport } from "../../support/fleets/fleet.ts";
import { createMetropolis, type Metropolis } from "../../support/fleets/metropolis.ts";
import { createRandom } from "../../support/fleets/random.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";
import { BENCH_APP } from "../../support/store/log.ts";

const NOW_MS = Date.UTC(2026, 10, 21);
const BATCH = 100;
/** A device moves if its last report is within the last day of the metropolis' week. */
const MOVING_MS = 86_400_000;
/** The percentage of reports with a start or stop. */
const TURNS_PERCENT = 10;
const STEP_DEGREES = 0.001;

/** A store that receives batches. */
interface Keeper {
  take(batch: ReportBatch): void;
  records(): number;
}

export const bench: Bench = {
  question:
    "laying batches of full reports over a store of as many devices, reports/s, against a list of objects each device",
  sizes: {
    devices: { help: "devices of the city, a seventh of which move", smoke: 2000, full: 200_000 },
    reports: { help: "reports of a run", smoke: 1000, full: 300_000 },
    runs: { help: "stores that are filled", smoke: 1, full: 5 },
    seed: { help: "of the city and of who moves where", smoke: 11, full: 11 },
  },
  async run(run) {
    const metropolis = createMetropolis({
      devices: run.size("devices"),
      seed: run.size("seed"),
      nowMs: NOW_MS,
    });
    const random = createRandom(run.size("seed"));
    const all = metropolis.timestampMs.length;
    const moving = [...metropolis.timestampMs.keys()].filter(
      (index) => metropolis.timestampMs[index]! >= NOW_MS - MOVING_MS,
    );
    measure(
      run,
      "devices that move, in turns",
      400_000,
      metropolis,
      (round) => moving[round % moving.length]!,
    );
    measure(run, "all devices, at random", 250_000, metropolis, () => Math.floor(random() * all));
  },
};

function measure(
  run: BenchRun,
  name: string,
  wanted: number,
  metropolis: Metropolis,
  next: (round: number) => number,
): void {
  const ours: number[] = [];
  const control: number[] = [];
  for (let index = 0; index < run.size("runs"); index++) {
    const keepers = [createStoreKeeper, createObjectKeeper] as const;
    const order = index % 2 === 0 ? keepers : keepers.toReversed();
    for (const create of order) {
      const rate = fill(create(), metropolis, next, run.size("reports"));
      (create === createStoreKeeper ? ours : control).push(rate);
    }
  }
  const figures: [Figure, Figure] = [
    { name: `${name}, hot.apply`, unit: "reports/s", runs: ours },
    { name: `${name}, as objects`, unit: "reports/s", runs: control },
  ];
  run.figures(figures);
  run.verdict(`${name}, hot.apply`, median(ours), "reports/s", { atLeast: wanted });
  run.ratio(`${name}, times objects`, ...figures);
}

/** Measures stored reports/s, with one record of every device present. */
function fill(
  keeper: Keeper,
  metropolis: Metropolis,
  next: (round: number) => number,
  reports: number,
): number {
  const devices = metropolis.timestampMs.length;
  const first = metropolis.timestampMs.keys().map(metropolis.report);
  for (const batch of batchesOf(parsed(first), BATCH)) keeper.take(batch);
  const random = createRandom(1);
  const rounds = new Array(reports).keys();
  let elapsedMs = 0;
  // Parses each batch just before storing it, as a server does: its texts are new, and caches are cold.
  const bodies = rounds.map((round) => moved(metropolis, next(round), NOW_MS + round, random));
  for (const batch of batchesOf(parsed(bodies), BATCH)) {
    const startMs = performance.now();
    keeper.take(batch);
    elapsedMs += performance.now() - startMs;
  }
  if (keeper.records() !== devices + reports) throw new Error(`${keeper.records()} records came in`);
  return reports / (elapsedMs / 1000);
}

/** The device's report at a nearby position. */
function moved(metropolis: Metropolis, index: number, timestamp: number, random: () => number): FullReport {
  const report = metropolis.report(index);
  const turned = report.type === "MOVING" ? "STATIONARY" : "MOVING";
  return {
    ...report,
    timestamp,
    latitude: metropolis.latitude[index]! + random() * STEP_DEGREES,
    longitude: metropolis.longitude[index]! + random() * STEP_DEGREES,
    type: random() * 100 < TURNS_PERCENT ? turned : report.type!,
  };
}

function* parsed(reports: Iterable<FullReport>): Generator<object> {
  for (const report of reports) yield JSON.parse(JSON.stringify(report)) as object;
}

function createStoreKeeper(): Keeper {
  const hot = createHotStore(new Scheduler());
  let sequence = 0;
  return {
    take: (batch) => hot.apply(BENCH_APP, batch, ++sequence),
    records: () => hot.recordCount,
  };
}

/** The minimum of a store: no index, and no order of time. */
function createObjectKeeper(): Keeper {
  const byDevice = new Map<string, object[]>();
  let records = 0;
  return {
    take(batch) {
      for (let row = 0; row < batch.count; row++) {
        const id = batch.texts[batch.device[row]!]!;
        const known = byDevice.get(id);
        if (known === undefined) byDevice.set(id, [objectOf(batch, row)]);
        else known.push(objectOf(batch, row));
        records++;
      }
    },
    records: () => records,
  };
}

function objectOf(batch: ReportBatch, row: number): object {
  const record: Record<string, number | string> = { timestamp: batch.timestampMs[row]! };
  NUMBER_FIELDS.forEach(({ name }, field) => {
    record[name] = batch.numbers[field]![row]!;
  });
  PROFILE_FIELDS.forEach(({ name }, member) => {
    record[name] = batch.texts[batch.profiles[batch.profile[row]! * PROFILE_FIELDS.length + member]!]!;
  });
  STATE_FIELDS.forEach(({ name }, member) => {
    record[name] = batch.texts[batch.states[batch.state[row]! * STATE_FIELDS.length + member]!]!;
  });
  return record;
}
