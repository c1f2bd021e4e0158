import { join } from "node:path";
import { RUNTIMES, type Runtime } from "../../../test/support/server-process.ts";
import { type Figure, median } from "../../support/figures/report.ts";
import { HISTORIES } from "../../support/histories/histories.ts";
import type { History } from "../../support/histories/history.ts";
import { importHistory, removeHistory, writeHistory } from "../../support/histories/import-process.ts";
import type { Bench, BenchRun } from "../../support/run/bench.ts";

/** Required MB/s of a whole import in one pass, by format and runtime. */
const WANTED: Readonly<Record<string, Partial<Record<Runtime["name"], number>>>> = {
  "google-records": { Bun: 30, Deno: 15 },
  gpx: { Bun: 30 },
};
const PEAK_MEBIBYTES_MAX = 200;

const PARSE_HISTORY = join(import.meta.dir, "../../support/histories/parse-history.ts");
/** The maximum for the control, which has the file in memory as text. */
const PARSED_BYTES_MAX = 64e6;
const MS_PER_DAY = 86_400_000;

export const bench: Bench = {
  question: "how fast is a location history imported, whole, from the start of the process to its end?",
  sizes: {
    megabytes: {
      help: "of the file, where there are such long ones; 2000 is a long life",
      smoke: 1,
      full: 250,
    },
    rounds: { help: "times that each is imported", smoke: 1, full: 3 },
    seed: { help: "of the history", smoke: 5, full: 5 },
  },
  choices: {
    format: { help: "one format", values: HISTORIES.map(({ format }) => format) },
    runtime: {
      help: "Bun or Deno alone (smoke: Bun)",
      values: RUNTIMES.map(({ name }) => name),
      smoke: ["Bun"],
    },
  },
  async run(run) {
    for (const history of HISTORIES.filter(({ format }) => run.chosen("format").includes(format)))
      for (const runtime of RUNTIMES.filter(({ name }) => run.chosen("runtime").includes(name)))
        await measure(run, history, runtime);
  },
};

async function measure(run: BenchRun, history: History, runtime: Runtime): Promise<void> {
  const seed = run.size("seed");
  const endMs = Date.now() - MS_PER_DAY;
  const bytesMin = Math.min(run.size("megabytes") * 1e6, history.bytesMax);
  const file = writeHistory(history, { seed, bytesMin, endMs });
  const short = writeHistory(history, { seed, bytesMin: 0, endMs });
  const name = (what: string) => `${history.format}, ${runtime.name}: ${what}`;
  const imported: number[] = [];
  const surveyed: number[] = [];
  const parsed: number[] = [];
  const peaks: number[] = [];
  try {
    for (let round = 0; round < run.size("rounds"); round++) {
      const idle = await importHistory(runtime, short);
      const whole = await importHistory(runtime, file);
      const survey = await importHistory(runtime, file, ["--dry-run"]);
      if (idle.positions !== 1 || whole.positions !== survey.positions || whole.positions <= 1)
        throw new Error(`${whole.positions} positions were imported, ${survey.positions} counted`);
      imported.push(file.bytes / 1e6 / whole.seconds);
      surveyed.push(file.bytes / 1e6 / survey.seconds);
      peaks.push((whole.peakBytes - idle.peakBytes) / 2 ** 20);
      parsed.push(await parse(runtime, history, Math.min(file.bytes, PARSED_BYTES_MAX), seed));
    }
  } finally {
    removeHistory(file);
    removeHistory(short);
  }
  const ours: Figure = { name: name("imported"), unit: "MB/s", runs: imported };
  const control: Figure = { name: name("parsed and nothing else"), unit: "MB/s", runs: parsed };
  const counted: Figure = { name: name("counted before"), unit: "MB/s", runs: surveyed };
  const peak: Figure = { name: name("peak above an import of one position"), unit: "MiB", runs: peaks };
  run.figures([ours, control, counted, peak]);
  const wanted = WANTED[history.format]?.[runtime.name];
  run.ratio(name("of bare parsing"), ours, control);
  run.verdict(
    name("one pass"),
    median(imported),
    "MB/s",
    wanted === undefined ? undefined : { atLeast: wanted },
  );
  run.verdict(name("memory"), median(peaks), "MiB above idle", { atMost: PEAK_MEBIBYTES_MAX });
}

/** MB/s of the parser alone, with the file in memory. */
async function parse(runtime: Runtime, { format }: History, bytes: number, seed: number): Promise<number> {
  const [program, ...words] = runtime.command({ directory: import.meta.dir });
  const argv = [program!, ...words.slice(0, -1), PARSE_HISTORY, format, String(bytes), String(seed)];
  const child = Bun.spawn(argv, { stdout: "pipe", stderr: "inherit" });
  return Number(await new Response(child.stdout).text());
}
