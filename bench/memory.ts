import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHotStore } from "../src/hot/hot-store.ts";
import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../src/model/location-fields.ts";
import type { ReportBatch } from "../src/model/report-batch.ts";
import { type Bench, size } from "./support/bench.ts";
import { readBoston } from "./support/boston.ts";
import { createFleet } from "./support/fleet.ts";
import { openLog, writeLog } from "./support/log.ts";
import { type Figure, printFigures } from "./support/report.ts";

const DEVICES = 2000;
const SETTLE_MS = 200;

type Keeper = "store" | "objects";

export const bench: Bench = {
  question:
    "memory a record takes in the hot store, growth of resident memory after collection, against plain objects",
  async run(isSmoke) {
    const figures: Figure[] = [];
    const boston = readBoston(size(isSmoke, 5000, 500_000));
    if (boston !== null) figures.push(...(await measure("Boston track", "under 80", boston, isSmoke)));
    const fleet = createFleet({
      devices: DEVICES,
      seed: 5,
      startMs: Date.now() - 86_400_000,
      stepMs: 60_000,
    });
    const rounds = Array.from({ length: size(isSmoke, 5, 250) }, (_, round) => fleet.round(round));
    figures.push(...(await measure("full reports", "under 140", rounds.flat(), isSmoke)));
    printFigures(figures);
  },
};

async function measure(
  name: string,
  wanted: string,
  reports: readonly object[],
  isSmoke: boolean,
): Promise<Figure[]> {
  const directory = mkdtempSync(join(tmpdir(), "wherehouse-memory-"));
  try {
    await writeLog(directory, reports);
    const runs = async (keeper: Keeper) => {
      const bytes: number[] = [];
      for (let run = 0; run < size(isSmoke, 1, 5); run++)
        bytes.push(await measureInProcess(directory, keeper));
      return bytes;
    };
    return [
      { name: `${name} (wanted: ${wanted})`, unit: "bytes/record", runs: await runs("store") },
      { name: `${name} as objects`, unit: "bytes/record", runs: await runs("objects") },
    ];
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Each measurement replays the log in a process of its own, so that none inherits what another left behind. */
async function measureInProcess(directory: string, keeper: Keeper): Promise<number> {
  const argv = [process.execPath, import.meta.path, directory, keeper];
  const child = Bun.spawn(argv, { stdout: "pipe", stderr: "inherit" });
  const said = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`measuring ${keeper} failed`);
  return Number(said);
}

if (import.meta.main) {
  const [, , directory, keeper] = process.argv;
  const hot = createHotStore();
  const objects: object[] = [];
  const before = await settledBytes();
  const { recovery } = await openLog(directory!, ({ appId, batch, sequence }) => {
    if (keeper === "store") hot.apply(appId, batch, sequence);
    else for (let row = 0; row < batch.count; row++) objects.push(objectOf(batch, row));
  });
  const grown = (await settledBytes()) - before;
  if (hot.recordCount + objects.length === 0) throw new Error("nothing was replayed");
  console.log(grown / recovery.records);
}

/** Resident memory once the collector is done and the allocator has had time to give pages back. */
async function settledBytes(): Promise<number> {
  for (let i = 0; i < 5; i++) {
    Bun.gc(true);
    await Bun.sleep(SETTLE_MS);
  }
  return process.memoryUsage().rss;
}

/** The report as JSON would have made it. */
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
