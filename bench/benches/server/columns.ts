import { longestTurnMs } from "../../support/figures/longest-turn.ts";
import { type Figure, median } from "../../support/figures/report.ts";
import { batchesOf } from "../../support/fleets/batches.ts";
import { readBoston } from "../../support/fleets/boston.ts";
import { createMetropolis } from "../../support/fleets/metropolis.ts";
import { askInProcess } from "../../support/http/in-process.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";
import { processorMicros } from "../../support/run/processor-time.ts";
import { report, temporaryDataDir } from "../../support/store/archived-directory.ts";
import { openServedDirectory } from "../../support/store/served-directory.ts";

const PATH = "/api/v1/locations/current";
const PAGE = 1000;
const CODINGS = ["identity", "gzip", "zstd"] as const;
type Coding = (typeof CODINGS)[number];

/** The bounds, for 200,000 devices. */
const JUDGED = { devices: 200_000, coding: "zstd", processorMs: 150, bytes: 2_000_000, turnMs: 20 } as const;

export const bench: Bench = {
  question:
    "the positions of all devices in columns, against all pages of app current: processor time, bytes, the event loop",
  sizes: {
    devices: {
      help: "with positions of the Boston track, or of a metropolis",
      smoke: 2000,
      full: JUDGED.devices,
    },
    rounds: { help: "times that each is asked", smoke: 2, full: 15 },
    seed: { help: "of the metropolis", smoke: 1, full: 1 },
  },
  async run(run) {
    const served = await openServedDirectory(temporaryDataDir("columns"));
    const { directory } = served;
    try {
      await report(directory, batchesOf(reportsOf(run), PAGE));
      const ask = await askInProcess(served);
      await compare(run, (path, coding) => ask(path, { "accept-encoding": coding }));
    } finally {
      await directory.close();
    }
  },
};

type Ask = (path: string, coding: Coding) => Promise<Response>;

/** Real positions, a different one for each device. */
function* reportsOf(run: BenchRun): Iterable<object> {
  const devices = run.size("devices");
  const metropolis = createMetropolis({ devices, seed: run.size("seed"), nowMs: Date.now() });
  const boston = readBoston();
  for (let index = 0; index < devices; index++) {
    const full = metropolis.report(index);
    // The track has rows of one time together, so each device takes one of another time.
    yield boston === null ? full : { ...boston[(index * 7919) % boston.length]!, device_id: full.device_id };
  }
}

async function compare(run: BenchRun, ask: Ask): Promise<void> {
  await expectSame(run.size("devices"), ask);
  const isJudged = run.size("devices") === JUDGED.devices;
  for (const coding of CODINGS) {
    const ours: number[] = [];
    const control: number[] = [];
    const turns: number[] = [];
    let [bytes, pagesBytes] = [0, 0];
    for (let round = 0; round < run.size("rounds"); round++) {
      let startedMicros = processorMicros();
      bytes = await bytesOf(await ask(`${PATH}/columns`, coding));
      ours.push((processorMicros() - startedMicros) / 1000);
      startedMicros = processorMicros();
      pagesBytes = await askPages(run.size("devices"), ask, coding);
      control.push((processorMicros() - startedMicros) / 1000);
      turns.push(await longestTurnMs(async () => bytesOf(await ask(`${PATH}/columns`, coding))));
    }
    const [columns, pages]: [Figure, Figure] = [
      { name: `columns, ${coding}`, unit: "ms of processor", runs: ours },
      { name: `pages, ${coding}`, unit: "ms of processor", runs: control },
    ];
    run.figures([columns, pages, { name: `longest turn, ${coding}`, unit: "ms", runs: turns }]);
    run.ratio(`columns / pages, ${coding}`, columns, pages);
    const bound = (atMost: number) => (isJudged && coding === JUDGED.coding ? { atMost } : undefined);
    run.verdict(`processor time, ${coding}`, median(ours), "ms", bound(JUDGED.processorMs));
    run.verdict(`bytes, ${coding}`, bytes, "", bound(JUDGED.bytes));
    run.verdict(`bytes of pages, ${coding}`, pagesBytes, "");
    run.verdict(`longest turn, ${coding}`, median(turns), "ms", bound(JUDGED.turnMs));
  }
}

/** Checks that the columns have the values of the page's records. */
async function expectSame(devices: number, ask: Ask): Promise<void> {
  const columns = (await (await ask(`${PATH}/columns`, "identity")).json()) as Record<string, unknown[]>;
  let row = 0;
  for (let offset = 0; offset < devices; offset += PAGE) {
    const page = await (await ask(`${PATH}?limit=${PAGE}&offset=${offset}`, "identity")).json();
    for (const record of (page as { locations: Record<string, unknown>[] }).locations) {
      for (const name of ["device_id", "timestamp", "latitude", "longitude", "speed"]) {
        if (columns[name]![row] !== (record[name] ?? null)) throw new Error(`row ${row} has another ${name}`);
      }
      row++;
    }
  }
  if (row !== devices || columns.device_id!.length !== devices) throw new Error("a device is missing");
}

async function askPages(devices: number, ask: Ask, coding: Coding): Promise<number> {
  let bytes = 0;
  for (let offset = 0; offset < devices; offset += PAGE)
    bytes += await bytesOf(await ask(`${PATH}?limit=${PAGE}&offset=${offset}`, coding));
  return bytes;
}

async function bytesOf({ status, body }: Response): Promise<number> {
  if (status !== 200 || body === null) throw new Error(`an answer with status ${status}`);
  let bytes = 0;
  for await (const piece of body) bytes += piece.length;
  return bytes;
}
