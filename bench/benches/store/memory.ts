import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHotStore } from "../../../src/hot/hot-store.ts";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../../../src/model/location-fields.ts";
import type { ReportBatch } from "../../../src/model/report-batch.ts";
import { applyToMemory } from "../../../src/service/ingest/apply-entry.ts";
import { type Figure, median } from "../../support/figures/report.ts";
import { readBoston } from "../../support/fleets/boston.ts";
import { createFleet } from "../../support/fleets/fleet.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";
import { openLog, writeLog } from "../../support/store/log.ts";

const DEVICES = 2000;
const SETTLE_MS = 200;
const STEP_MS = 60_000;

type Keeper = "store" | "objects";

export const bench: Bench = {
  question:
    "memory a record takes in the hot store, growth of resident memory after collection, against plain objects",
  sizes: {
    positions: { help: "positions of the Boston track, at most", smoke: 5000, full: 500_000 },
    reports: { help: "full reports of each of 2,000 devices", smoke: 5, full: 250 },
    devices: { help: "devices of a large fleet, two to a user", smoke: 2000, full: 1_000_000 },
    runs: { help: "processes that measure each", smoke: 1, full: 5 },
    seed: { help: "of the fleet that reports in full", smoke: 5, full: 5 },
  },
  async run(run) {
    const boston = readBoston(run.size("positions"));
    if (boston !== null) await measure(run, "Boston track", 48, boston);
    const startMs = Date.now() - 86_400_000;
    const rounds = (devices: number, count: number) =>
      roundsOf(createFleet({ devices, seed: run.size("seed"), startMs, stepMs: STEP_MS }), count);
    await measure(run, "full reports", 80, rounds(DEVICES, run.size("reports")));
    const devices = run.size("devices");
    await measure(run, "large fleet, a record each", 400, rounds(devices, 1));
    await measure(run, "large fleet, five each", 200, rounds(devices, 5));
  },
};

function* roundsOf(fleet: ReturnType<typeof createFleet>, count: number): Iterable<object> {
  for (let round = 0; round < count; round++) yield* fleet.round(round);
}

async function measure(
  run: BenchRun,
  name: string,
  bytesMax: number,
  reports: Iterable<object>,
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "wherehouse-memory-"));
  try {
    await writeLog(directory, reports);
    const runs = async (keeper: Keeper) => {
      const bytes: number[] = [];
      for (let index = 0; index < run.size("runs"); index++)
        bytes.push(await measureInProcess(directory, keeper));
      return bytes;
    };
    const ours: Figure = { name, unit: "bytes/record", runs: await runs("store") };
    run.figures([ours, { name: `${name} as objects`, unit: "bytes/record", runs: await runs("objects") }]);
    run.verdict(name, median(ours.runs), "bytes/record", { atMost: bytesMax });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Each measurement replays the log in a separate process, without remains of others. */
async function measureInProcess(directory: string, keeper: Keeper): Promise<number> {
  const argv = [process.execPath, import.meta.path, directory, keeper];
  const child = Bun.spawn(argv, { stdout: "pipe", stderr: "inherit" });
  const said = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`measuring ${keeper} failed`);
  return Number(said);
}

if (import.meta.main) {
  const [, , directory, keeper] = process.argv;
  const hot = createHotStore(new Scheduler());
  const objects: object[] = [];
  const before = await stableBytes();
  hot.beginReplay();
  const { recovery } = await openLog(directory!, (entry) => {
    if (keeper === "store") applyToMemory({ hot, messages: null }, entry);
    else if (entry.kind === "reports")
      for (let row = 0; row < entry.batch.count; row++) objects.push(objectOf(entry.batch, row));
  });
  for (const _ of hot.endReplay());
  for (const _ of hot.pack(Number.POSITIVE_INFINITY)); // Packs records older than an hour, as the server does.
  const grown = (await stableBytes()) - before;
  if (hot.recordCount + objects.length === 0) throw new Error("nothing was replayed");
  console.log(grown / recovery.records);
}

/** Resident memory after garbage collection, and after the allocator has returned pages. */
async function stableBytes(): Promise<number> {
  for (let i = 0; i < 5; i++) {
    Bun.gc(true);
    await Bun.sleep(SETTLE_MS);
  }
  return process.memoryUsage().rss;
}

/** The report as a plain object. */
function objectOf(batch: ReportBatch, row: number): object {
  const report: Record<string, string | number> = {
    device_id: batch.texts[batch.device[row]!]!,
    timestamp: batch.timestampMs[row]!,
  };
  NUMBER_FIELDS.forEach(({ name }, field) => {
    const value = batch.numbers[field]![row]!;
    if (!Number.isNaN(value)) report[name] = value;
  });
  const addTexts = (fields: readonly { name: string }[], tuples: Uint32Array, tuple: number) =>
    fields.forEach(({ name }, member) => {
      const text = tuples[tuple * fields.length + member]!;
      if (text !== 0) report[name] = batch.texts[text]!;
    });
  addTexts(PROFILE_FIELDS, batch.profiles, batch.profile[row]!);
  addTexts(STATE_FIELDS, batch.states, batch.state[row]!);
  return report;
}
