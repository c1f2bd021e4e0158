import { drawPlot } from "../../../../bench/support/figures/plot.ts";
import { type Results, saveResults } from "../../../../bench/support/figures/results.ts";
import { readMachine } from "../../../../bench/support/run/machine.ts";
import { GROWTH_MAX, growthOf, type MemoryRun, type MemorySample } from "./memory-run.ts";

const MB = 1e6;
const MS_PER_MINUTE = 60_000;

export function isFlat(run: MemoryRun): boolean {
  return run.wrongAnswers.length === 0 && growthOf(run).growth < GROWTH_MAX;
}

export function memoryText(runtime: string, run: MemoryRun): string {
  const { warmUpMs, warmBytes, endBytes, growth } = growthOf(run);
  const [first, last] = [run.samples[0]!, run.samples.at(-1)!];
  const cpuShare = (last.cpuSeconds - first.cpuSeconds) / ((last.elapsedMs - first.elapsedMs) / 1000);
  const highest = Math.max(...run.samples.map(({ residentBytes }) => residentBytes));
  const lines: [string, string][] = [
    ["minutes", minutes(run.durationMs)],
    ["requests", `${run.requests.toLocaleString("en")}, ${run.skippedRequests} left out`],
    ["wrong answers", String(run.wrongAnswers.length)],
    ["seals", String(run.seals)],
    ["records in memory", between(run, ({ records }) => records.toLocaleString("en"))],
    ["records archived", between(run, ({ archivedRecords }) => archivedRecords.toLocaleString("en"))],
    ["heap", between(run, ({ heapBytes }) => megabytes(heapBytes))],
    ["resident", `${megabytes(warmBytes)} after ${minutes(warmUpMs)} min, ${megabytes(endBytes)} at the end`],
    ["  at most", megabytes(highest)],
    ["growth", `${growth.toFixed(3)} (wanted: below ${GROWTH_MAX})`],
    ["descriptors, threads", `${last.descriptors}, ${last.threads}`],
    ["processor", `${(cpuShare * 100).toFixed(0)} % of a core`],
  ];
  const width = Math.max(...lines.map(([name]) => name.length));
  const rows = lines.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`);
  return [`${runtime}:`, ...rows, ...run.wrongAnswers.map((wrong) => `  wrong: ${wrong}`)].join("\n");
}

function between({ samples }: MemoryRun, value: (sample: MemorySample) => string): string {
  return `${value(samples[0]!)} at first, ${value(samples.at(-1)!)} at the end`;
}

function minutes(durationMs: number): string {
  return String(Number((durationMs / MS_PER_MINUTE).toFixed(1)));
}

function megabytes(bytes: number): string {
  return `${(bytes / MB).toFixed(0)} MB`;
}

/** Writes the results beside those of the benches, in their format, and a plot. */
export async function saveMemory(path: string, runtime: string, run: MemoryRun, seed: number): Promise<void> {
  const { warmBytes, endBytes, growth } = growthOf(run);
  const bound = { atMost: GROWTH_MAX };
  const results: Results = {
    bench: "memory-hour",
    question: "does the server's memory stay where it is while the amount of data does?",
    date: new Date().toISOString(),
    isSmoke: false,
    machine: readMachine(),
    sizes: { minutes: run.durationMs / MS_PER_MINUTE, seed, records: run.steadyRecords },
    figures: [
      figure("elapsed", "s", run, ({ elapsedMs }) => Math.round(elapsedMs / 1000)),
      figure("resident", "MB", run, ({ residentBytes }) => residentBytes / MB),
      figure("heap", "MB", run, ({ heapBytes }) => heapBytes / MB),
      figure("records in memory", "", run, ({ records }) => records),
      figure("records archived", "", run, ({ archivedRecords }) => archivedRecords),
      figure("descriptors", "", run, ({ descriptors }) => descriptors),
      figure("threads", "", run, ({ threads }) => threads),
    ],
    ratios: [],
    verdicts: [
      { name: "after the warm-up", value: warmBytes / MB, unit: "MB" },
      { name: "at the end", value: endBytes / MB, unit: "MB" },
      { name: "growth", value: growth, unit: "", bound, isReached: growth <= bound.atMost },
    ],
    notes: [
      `the server on ${runtime}`,
      `${run.requests} requests, ${run.skippedRequests} left out, ${run.wrongAnswers.length} wrong answers, ${run.seals} seals`,
    ],
  };
  saveResults(`${path}.json`, results, new Map([[".svg", await plot(runtime, run)]]));
}

function figure(name: string, unit: string, { samples }: MemoryRun, value: (sample: MemorySample) => number) {
  return { name, unit, runs: samples.map(value) };
}

function plot(runtime: string, { samples }: MemoryRun): Promise<string> {
  const line = (name: string, value: (sample: MemorySample) => number) => ({
    name,
    points: samples.map((sample) => ({ x: sample.elapsedMs / MS_PER_MINUTE, y: value(sample) })),
  });
  return drawPlot({
    title: `Memory under a steady mixed load, on ${runtime}`,
    columns: 1,
    panelWidth: 640,
    panelHeight: 160,
    panels: [
      {
        title: "memory of the process",
        x: { title: "minutes", scale: "linear" },
        y: { title: "MB", scale: "linear" },
        lines: [
          line("resident", ({ residentBytes }) => residentBytes / MB),
          line("heap", ({ heapBytes }) => heapBytes / MB),
        ],
      },
      {
        title: "what it holds",
        x: { title: "minutes", scale: "linear" },
        y: { title: "records", scale: "linear" },
        lines: [line("in memory", ({ records }) => records)],
      },
    ],
  });
}
