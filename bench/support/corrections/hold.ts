import { longestTurnMs } from "../figures/longest-turn.ts";
import { median } from "../figures/report.ts";
import type { BenchRun } from "../run/bench.ts";
import { type CorrectedServer, denseRange, makeCorrectedDays, openCorrected } from "./corrected-days.ts";
import type { MadeCorrection } from "./correcting.ts";

/** The longest turn of the event loop while the largest correction is made and undone. */
export async function measureHold(run: BenchRun): Promise<void> {
  const days = await makeCorrectedDays(run);
  const server = await openCorrected(days.dataDir);
  try {
    for (const action of ["hide", "shift"] as const) {
      await hold(run, server, action, "the window", days.denseMs);
      await hold(run, server, action, "archived days", days.denseArchivedMs);
    }
  } finally {
    await server.directory.close();
  }
}

async function hold(
  run: BenchRun,
  { request, correcting }: CorrectedServer,
  action: "hide" | "shift",
  where: string,
  startMs: number,
) {
  const count = run.size("dense");
  const range = denseRange(startMs, count);
  const turns = { make: [] as number[], undo: [] as number[], read: [] as number[] };
  const took = { make: [] as number[], undo: [] as number[] };
  const track = `/api/v1/devices/${range.device_id}/track?start=${range.start}&end=${range.end}`;
  const readAll = async () => JSON.parse(await (await request(track)).text()) as { total: number };
  for (let round = -1; round < run.size("holdRounds"); round++) {
    let made: MadeCorrection | null = null;
    const before = await readAll();
    const from = performance.now();
    const makeTurn = await longestTurnMs(async () => {
      made = action === "hide" ? await correcting.hide(range) : await correcting.shift(range, SHIFT_MS);
    });
    const between = performance.now();
    const after = await readAll();
    const expected = action === "hide" ? 0 : count;
    if (made!.records !== count || after.total !== expected)
      throw new Error(`${after.total} records are shown`);
    const undoFrom = performance.now();
    const undoTurn = await longestTurnMs(() => correcting.undo(made!));
    const end = performance.now();
    const readTurn = await longestTurnMs(readAll);
    if (!Bun.deepEquals(await readAll(), before)) throw new Error("undone, it is another track");
    if (round < 0) continue;
    turns.make.push(makeTurn);
    turns.undo.push(undoTurn);
    turns.read.push(readTurn);
    took.make.push(between - from);
    took.undo.push(end - undoFrom);
  }
  const name = `${action} ${count} records of ${where}`;
  run.figures([
    { name, unit: "ms", runs: took.make },
    { name: `${name}, undo`, unit: "ms", runs: took.undo },
    { name: `${name}, longest turn`, unit: "ms", runs: turns.make },
    { name: `${name}, undo, longest turn`, unit: "ms", runs: turns.undo },
    { name: `${name}, control: read their track, longest turn`, unit: "ms", runs: turns.read },
  ]);
  run.verdict(`${name}, median of longest turns`, median(turns.make), "ms", { atMost: 50 });
  run.verdict(`${name}, undo, median of longest turns`, median(turns.undo), "ms", { atMost: 50 });
}

/** Between two records of the device, so that their new times are free. */
const SHIFT_MS = 500;
