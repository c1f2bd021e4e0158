import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";

/* Profiles a bench and its servers with Bun's profiler. */

const ROOT = join(import.meta.dir, "../../..");
const FOLDER = join(ROOT, "bench/results/profiles");
const SELF_TIME_ROWS = 10;

/** Set for a profiled bench to its name, so that its servers are profiled too. */
const PROFILED_BENCH = "WHEREHOUSE_PROFILED_BENCH";

let servers = 0;

/** The command for a server of a bench, with the profiler if the bench is profiled. */
export function bunForServer(): string[] {
  const name = process.env[PROFILED_BENCH];
  if (name === undefined) return [process.execPath];
  servers++;
  return bunWithProfiler(`${name}-server-${servers}`);
}

/** Bun writes the profile when the process ends. */
function bunWithProfiler(name: string): string[] {
  const flags = ["--cpu-prof", `--cpu-prof-dir=${FOLDER}`, `--cpu-prof-name=${name}.cpuprofile`];
  return [process.execPath, ...flags];
}

/** The options of `profiled-bench.ts`. */
export interface ProfiledBench {
  readonly name: string;
  readonly isSmoke: boolean;
  /** Sizes by name. */
  readonly given: readonly (readonly [name: string, value: number])[];
  readonly chosen: readonly (readonly [name: string, values: readonly string[]])[];
}

/** Runs a bench again under the profiler; returns lines that show where time was spent. */
export async function profileBench(bench: ProfiledBench): Promise<string[]> {
  mkdirSync(FOLDER, { recursive: true });
  for (const file of profilesOf(bench.name)) rmSync(join(FOLDER, file)); // Removes profiles of earlier runs.
  const argv = [...bunWithProfiler(bench.name), "bench/support/run/profiled-bench.ts", JSON.stringify(bench)];
  const env = { ...process.env, [PROFILED_BENCH]: bench.name };
  const child = Bun.spawn(argv, { cwd: ROOT, env, stdout: "ignore", stderr: "inherit" });
  const code = await child.exited;
  if (code !== 0) throw new Error(`${bench.name} ended with ${code} under the profiler`);
  const [own, ...ofServers] = profilesOf(bench.name);
  return [
    ...selfTimeLines("the bench's process", [own!]),
    ...(ofServers.length === 0 ? [] : selfTimeLines("servers it started", ofServers)),
  ];
}

/** The profiles in the folder: the bench's first, then those of its servers by start time. */
function profilesOf(name: string): string[] {
  const files = new Set(readdirSync(FOLDER));
  const found = [`${name}.cpuprofile`];
  while (files.has(`${name}-server-${found.length}.cpuprofile`)) {
    found.push(`${name}-server-${found.length}.cpuprofile`);
  }
  return found.filter((file) => files.has(file));
}

function selfTimeLines(what: string, files: readonly string[]): string[] {
  const profiles = files.map((file) => JSON.parse(readFileSync(join(FOLDER, file), "utf8")) as CpuProfile);
  const functions = selfTimes(profiles);
  const samples = functions.reduce((sum, { samples }) => sum + samples, 0);
  const where = files.length === 1 ? files[0] : `${files[0]} and ${files.length - 1} more`;
  return [
    `${what}, ${samples.toLocaleString("en")} samples in bench/results/profiles/${where}`,
    ...functions.slice(0, SELF_TIME_ROWS).map(({ name, place, samples: own }) => {
      const percent = ((own / samples) * 100).toFixed(1).padStart(5);
      return `  ${percent} %  ${name}  ${place === "" ? "native" : place}`;
    }),
  ];
}

/** The used part of a profile: every node is a function with its call site. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly hitCount: number;
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      readonly lineNumber: number;
    };
  }[];
}

export interface SelfTime {
  readonly name: string;
  /** File and line; empty for native code. */
  readonly place: string;
  readonly samples: number;
}

/**
 * Functions by the number of samples on top of the stack, in descending order. Samples are counted instead of their
 * intervals: Bun takes none while a process waits, and the next one would be charged for that.
 */
export function selfTimes(profiles: readonly CpuProfile[]): SelfTime[] {
  const functions = new Map<string, SelfTime>();
  for (const { hitCount, callFrame } of profiles.flatMap(({ nodes }) => nodes)) {
    if (hitCount === 0) continue;
    const name = callFrame.functionName === "" ? "(anonymous)" : callFrame.functionName;
    const place = placeOf(callFrame.url, callFrame.lineNumber);
    const key = `${name} ${place}`;
    functions.set(key, { name, place, samples: (functions.get(key)?.samples ?? 0) + hitCount });
  }
  return [...functions.values()].sort((a, b) => b.samples - a.samples);
}

function placeOf(url: string, lineNumber: number): string {
  if (url === "") return "";
  const path = url.startsWith("file://") ? relative(ROOT, url.slice("file://".length)) : url;
  return `${path}:${lineNumber + 1}`;
}
