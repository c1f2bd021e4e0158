import { join } from "node:path";
import { openDatabase } from "../../../src/archive/duckdb/database.ts";
import { directoryPaths } from "../../../src/directory/paths.ts";
import { BATCH_REPORTS_MAX } from "../../../src/model/report-batch.ts";
import { longestTurnMs } from "../../support/figures/longest-turn.ts";
import { type Figure, median } from "../../support/figures/report.ts";
import { batchesOf } from "../../support/fleets/batches.ts";
import { deviceYearRange, readDeviceYear, type YearRecord } from "../../support/fleets/device-year.ts";
import { type AskInProcess, askInProcess } from "../../support/http/in-process.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";
import { report, temporaryDataDir } from "../../support/store/archived-directory.ts";
import { openServedDirectory, type ServedDirectory } from "../../support/store/served-directory.ts";

const DEVICE = "all of Boston";
const VERTICES_MAX = 50_000;
const TOLERANCES = [10, 200];

export const bench: Bench = {
  question:
    "the track of one device with half a million records in a year, whole answers in process: from memory, then from archived days",
  sizes: {
    rows: { help: "of the Boston track, at most", smoke: 3000, full: 500_000 },
    rounds: { help: "times that each is asked for", smoke: 2, full: 9 },
  },
  async run(run) {
    const places = readDeviceYear(run.size("rows"))?.map((record) => ({ device_id: DEVICE, ...record }));
    if (places === undefined) return;
    const dataDir = temporaryDataDir("track");
    const served = await openServedDirectory(dataDir);
    const { directory } = served;
    try {
      await report(directory, batchesOf(places, BATCH_REPORTS_MAX));
      const ask = askerOf(await askInProcess(served));
      const inMemory = await measure(run, ask, "memory", 150);
      for (const answer of inMemory) checkLine(answer, places);
      run.figures([allAtOnce(places, run.size("rounds"))]);
      await directory.schedule.sealNow();
      run.note(
        `${directory.archive.manifest.days.size} archived days, ${directory.hot.recordCount} records in memory`,
      );
      const archived = await measure(run, ask, "archive", 1000);
      if (!Bun.deepEquals(archived, inMemory)) throw new Error("from the archive, a track is another");
      run.figures([await duckDbAlone(served, dataDir, run.size("rounds"))]);
    } finally {
      await directory.close();
    }
  },
};

type Ask = (toleranceMeters: number) => Promise<string>;

function askerOf(ask: AskInProcess): Ask {
  const { startMs, endMs } = deviceYearRange();
  const path = `/api/v1/devices/${encodeURIComponent(DEVICE)}/track?start=${startMs}&end=${endMs}`;
  return async (toleranceMeters) => (await ask(`${path}&tolerance_meters=${toleranceMeters}`)).text();
}

/** Requests each tolerance, and once more with a watch of the event loop; returns the answers. */
async function measure(run: BenchRun, ask: Ask, store: string, msMax: number): Promise<readonly string[]> {
  const answers: string[] = [];
  for (const toleranceMeters of TOLERANCES) {
    const name = `${store}, ${toleranceMeters} m`;
    const runs: number[] = [];
    // The first round opens files, and is not counted.
    for (let round = 0; round <= run.size("rounds"); round++) {
      const startMs = performance.now();
      const answer = await ask(toleranceMeters);
      if (round > 0) runs.push(performance.now() - startMs);
      if (round === 0) answers.push(answer);
    }
    const { timestamp, total, tolerance_meters: used } = JSON.parse(answers.at(-1)!);
    run.note(`${name}: ${timestamp.length} of ${total} records within ${used} m`);
    run.figures([{ name, unit: "ms", runs }]);
    run.verdict(`${name}, whole answer`, median(runs), "ms", { atMost: msMax });
    run.verdict(`${name}, longest turn`, await longestTurnMs(() => ask(toleranceMeters)), "ms", {
      atMost: 20,
    });
  }
  return answers;
}

/** Checks the number of vertices, and the first and last position. */
function checkLine(answer: string, places: readonly YearRecord[]): void {
  const { timestamp, latitude, longitude } = JSON.parse(answer) as Record<keyof YearRecord, number[]>;
  if (timestamp.length > VERTICES_MAX) throw new Error(`${timestamp.length} vertices are too many`);
  for (const at of [0, -1]) {
    const place = places.at(at)!;
    const end = [timestamp.at(at), latitude.at(at), longitude.at(at)];
    if (!Bun.deepEquals(end, [place.timestamp, place.latitude, place.longitude]))
      throw new Error(`a line has another end than its device: ${end}`);
  }
}

/** The control for memory: all positions in columns, in one block. */
function allAtOnce(places: readonly YearRecord[], rounds: number): Figure {
  const runs = Array.from({ length: rounds }, () => {
    const startMs = performance.now();
    const columns = {
      timestamp: places.map(({ timestamp }) => timestamp),
      latitude: places.map(({ latitude }) => latitude),
      longitude: places.map(({ longitude }) => longitude),
    };
    new TextEncoder().encode(JSON.stringify(columns));
    return performance.now() - startMs;
  });
  return { name: "control: all positions as JSON, in one piece", unit: "ms", runs };
}

/** The control for the archive: its library reads the same columns without using them. */
async function duckDbAlone({ directory }: ServedDirectory, dataDir: string, rounds: number): Promise<Figure> {
  const folder = directoryPaths(dataDir).archive;
  const database = await openDatabase({
    threads: 2,
    memoryBytes: 1_000_000_000,
    directories: [folder],
    spillDirectory: null,
    cachesFiles: true,
  });
  const files = [...directory.archive.manifest.days.values()].flatMap(({ parts }) =>
    parts.map(({ file }) => join(folder, file)),
  );
  const connection = await database.connect();
  const runs: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const startMs = performance.now();
    const sql =
      "SELECT timestamp::DOUBLE, latitude, longitude FROM read_parquet($files) WHERE device_id = $device";
    const rows = await connection.run(sql, { files, device: DEVICE });
    for (let column = 0; column < 3; column++) rows.numbers(column);
    if (round > 0) runs.push(performance.now() - startMs);
  }
  connection.close();
  database.close();
  return { name: "control: DuckDB alone reads the same files", unit: "ms", runs };
}
