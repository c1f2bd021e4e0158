import { createHotStore } from "../../../src/hot/hot-store.ts";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import { inOneTurn } from "../../../src/lib/schedule/steps.ts";
import type { Correction } from "../../../src/model/correction.ts";
import { correctionEntries, hidingEntries, piecesOf } from "../../../src/model/correction-pieces.ts";
import type { AppId, DeviceId } from "../../../src/model/ids.ts";
import type { ReportBatch } from "../../../src/model/report-batch.ts";
import { createCorrectionId } from "../../../src/service/corrections/correction-id.ts";
import { median } from "../figures/report.ts";
import { batchesOf } from "../fleets/batches.ts";
import type { BenchRun } from "../run/bench.ts";

const APP = "bench" as AppId;
const MIB = 1 << 20;
const STEP_MS = 60_000;
const SHIFT_MS = 30_000;
const CORRECTIONS_A_COLLECTION = 200;

/**
 * Where the corrected records are, which are hidden unless they are shifted; sets are the control, which keeps their
 * times as a JavaScript set for each device, and rows that of shifted ones: as many records of another day in memory.
 */
type Where = "archive" | "memory" | "shifted" | "sets" | "rows";

interface MemoryOptions {
  readonly where: Where;
  readonly records: number;
  readonly corrections: number;
  readonly devices: number;
  /** A pause after each of some garbage collections. */
  readonly settleMs: number;
}

/** Growth of memory by as many corrected records as an app may have. */
export async function measureMemory(run: BenchRun): Promise<void> {
  const sizes = {
    records: run.size("memoryRecords"),
    corrections: run.size("memoryCorrections"),
    devices: run.size("memoryDevices"),
    settleMs: run.size("settleMs"),
  };
  const measure = async (where: Where) => {
    const runs: number[] = [];
    for (let i = 0; i < run.size("memoryRuns"); i++) runs.push(await measureInProcess({ where, ...sizes }));
    return runs;
  };
  const [archive, memory] = [await measure("archive"), await measure("memory")];
  const [shifted, rows] = [await measure("shifted"), await measure("rows")];
  const name = `${sizes.records} records of ${sizes.corrections} corrections`;
  run.figures([
    { name: `${name}, archived`, unit: "MiB", runs: archive },
    { name: `${name}, of the window`, unit: "MiB", runs: memory },
    { name: `${name}, shifted`, unit: "MiB", runs: shifted },
    { name: `${name}, their times as sets`, unit: "MiB", runs: await measure("sets") },
    { name: `${name}, as records in memory`, unit: "MiB", runs: rows },
  ]);
  const layer = median(shifted) - median(rows);
  run.verdict(`memory of ${name}, shifted, without that of records`, layer, "MiB", { atMost: 64 });
  run.verdict(`memory of ${name}, archived`, median(archive), "MiB", { atMost: 64 });
  run.verdict(`memory of ${name}, of the window`, median(memory), "MiB", { atMost: 64 });
}

/** Each measurement is made in a process of its own, without remains of others. */
async function measureInProcess(options: MemoryOptions): Promise<number> {
  const argv = [process.execPath, import.meta.path, JSON.stringify(options)];
  const child = Bun.spawn(argv, { stdout: "pipe", stderr: "inherit" });
  const said = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`measuring ${options.where} failed`);
  return Number(said);
}

if (import.meta.main) {
  const options = JSON.parse(process.argv[2]!) as MemoryOptions;
  const { where, records, corrections, devices } = options;
  const perDevice = records / devices;
  const startMs = Date.now() - perDevice * STEP_MS;
  const hot = createHotStore(new Scheduler());
  let sequence = 0;
  const reportOf = (device: number, timestamp: number) => ({
    ...{ device_id: `device ${device}`, timestamp },
    ...{ latitude: (timestamp - startMs) / STEP_MS / 1e4, longitude: 0, user_id: `user ${device}` },
  });
  const reports = function* (): Iterable<object> {
    for (let device = 0; device < devices; device++)
      for (let i = 0; i < perDevice; i++) yield reportOf(device, startMs + i * STEP_MS);
  };
  if (where === "memory") {
    for (const batch of batchesOf(reports(), 1000)) hot.apply(APP, batch, ++sequence);
    for (const _ of hot.pack(Number.POSITIVE_INFINITY));
  }
  const sets: Set<number>[] = [];
  const before = await stableBytes(options.settleMs);
  // One device after the other has a correction, so each device has several.
  const perCorrection = records / corrections;
  if (where === "rows") for (const batch of batchesOf(reports(), 1000)) hot.apply(APP, batch, ++sequence);
  for (let nth = 0; nth < corrections && where !== "rows"; nth++) {
    const device = nth % devices;
    const from = startMs + Math.floor(nth / devices) * perCorrection * STEP_MS;
    const times = Float64Array.from({ length: perCorrection }, (_, i) => from + i * STEP_MS);
    if (where === "sets") {
      const set = sets[device] ?? new Set();
      sets[device] = set;
      for (const time of times) set.add(time);
    } else {
      correct(device, times, nth);
      if (nth % CORRECTIONS_A_COLLECTION === 0) Bun.gc(true); // Else what it takes to make them would count, too.
    }
  }
  for (const _ of hot.pack(Number.POSITIVE_INFINITY)); // As the server does with records older than an hour.
  const grown = (await stableBytes(options.settleMs)) - before;
  const held =
    where === "rows"
      ? records
      : (hot.corrections.find(APP)?.records ?? sets.reduce((sum, { size }) => sum + size, 0));
  if (held !== records) throw new Error(`${held} records are hidden, not ${records}`);
  console.log(grown / MIB);

  function correct(device: number, times: Float64Array, previous: number): void {
    const [firstMs, lastMs] = [times[0]!, times.at(-1)!];
    const deviceId = `device ${device}` as DeviceId;
    const hiding: Correction = {
      ...{ id: createCorrectionId(firstMs), action: "hide", deviceId, note: null, createdMs: firstMs },
      ...{ createdBy: "bench", repetition: null, selection: { start: firstMs, end: lastMs + 1 } },
      ...{ target: null, records: times.length, firstMs, lastMs },
    };
    const target = { deviceId, byMs: SHIFT_MS, position: null, userId: null };
    const entries =
      where === "shifted"
        ? correctionEntries(APP, previous, {
            ...{ correction: { ...hiding, action: "shift_time", target }, timestampMs: times },
            ...{
              rows: piecesOf(times).map((piece) => rowsOf(device, piece)),
              newest: null,
              newestOfTarget: null,
            },
          })
        : hidingEntries(APP, previous, hiding, times);
    for (const entry of entries) inOneTurn(hot.applyStanding(entry, ++sequence));
  }

  function rowsOf(device: number, times: Float64Array): ReportBatch {
    const rows = Array.from(times, (timeMs) => reportOf(device, timeMs + SHIFT_MS));
    return [...batchesOf(rows, rows.length)][0]!;
  }
}

/** Resident memory after garbage collection, and after the allocator has returned pages. */
async function stableBytes(settleMs: number): Promise<number> {
  for (let i = 0; i < 5; i++) {
    Bun.gc(true);
    await Bun.sleep(settleMs);
  }
  return process.memoryUsage().rss;
}
