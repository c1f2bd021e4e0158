import { median } from "../figures/report.ts";
import { startWaitMeter } from "../http/wait-meter.ts";
import { forSeconds, measureLoad } from "../servers/load.ts";
import { percentile } from "../servers/open-load.ts";
import { armAttack, type Outcomes } from "./attack/attack.ts";
import { type Asked, ordinaryQuestions, startBystander } from "./bystander.ts";
import type { Keys } from "./directories.ts";
import type { WatchedServer } from "./watched-server.ts";

/** The well-behaved app's results during a period. */
export interface Stretch {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly asked: number;
  /** Failed requests, by outcome. */
  readonly failures: Outcomes;
}

/** One shape against one server: before, during and after the attack. */
export interface Trial {
  readonly before: Stretch;
  readonly during: Stretch;
  readonly after: Stretch;
  /** The event loop before the attack, and from its first byte until its traces are gone. */
  readonly quietLoop: LoopHolds;
  readonly loop: LoopHolds;
  readonly residentBytes: { readonly before: number; readonly peak: number; readonly after: number };
  /** From the attack's end until memory was below its limit, or the wait timed out. */
  readonly recoveryMs: number;
  /** The percentage of time in which the server waited for a core; null if the system does not tell. */
  readonly waitPercent: number | null;
  readonly outcomes: Outcomes;
}

/** Blockages of the event loop. */
export interface LoopHolds {
  /** By wall clock, as the server reports it: how long requests waited. */
  readonly longestHoldMs: number;
  /** By processor time: the server's own work. */
  readonly longestTurnMs: number;
}

export interface TrialOptions {
  readonly shape: string;
  readonly server: WatchedServer;
  readonly keys: Keys;
  readonly bodyBytes: number;
  readonly devices: number;
  readonly requestsPerSecond: number;
  readonly warmSeconds: number;
  readonly quietSeconds: number;
  readonly attackSeconds: number;
  /** How long memory may take to shrink. */
  readonly recoverySeconds: number;
}

/** The maximum ratio of memory after and before. */
export const RESIDENT_TIMES_MAX = 1.2;

const WARM_CONNECTIONS = 8;
const SAMPLE_MS = 50;
/** Memory fluctuates, so the last samples of a period are used. */
const SAMPLES_SETTLED = 20;

export async function runTrial(options: TrialOptions): Promise<Trial> {
  const { shape, server, keys, bodyBytes, devices, requestsPerSecond } = options;
  const { url } = server;
  const attack = await armAttack({ shape, url, key: keys.attacker, bodyBytes, devices });
  const bystander = startBystander({ url, key: keys.bystander, requestsPerSecond, seed: 1 });
  const memory = watchMemory(server);
  try {
    await warmUp(options);
    await server.takeLongestHoldMs();
    const quietSinceMs = Date.now();
    const readWait = startWaitMeter(server.pid);
    const startMs = performance.now();
    await Bun.sleep(options.quietSeconds * 1000);
    const quietLoop = await loopSince(server, quietSinceMs);
    const before = memory.settledBytes();

    const beginMs = performance.now();
    const sinceMs = Date.now();
    attack.begin();
    await Bun.sleep(options.attackSeconds * 1000);
    const endMs = performance.now();
    const outcomes = await attack.end();

    await Bun.sleep(options.quietSeconds * 1000);
    const overMs = performance.now();
    const isSettled = () => memory.settledBytes() <= before * RESIDENT_TIMES_MAX;
    const lateMs = endMs + options.recoverySeconds * 1000;
    while (!isSettled() && performance.now() < lateMs) await Bun.sleep(SAMPLE_MS);
    const recoveryMs = performance.now() - endMs;
    const asked = await bystander.stop();
    return {
      before: stretchOf(asked, startMs, beginMs),
      during: stretchOf(asked, beginMs, endMs),
      after: stretchOf(asked, endMs, overMs),
      quietLoop,
      loop: await loopSince(server, sinceMs),
      residentBytes: { before, peak: memory.peakBytesSince(beginMs), after: memory.settledBytes() },
      recoveryMs,
      waitPercent: readWait(),
      outcomes,
    };
  } finally {
    memory.stop();
    await bystander.stop();
  }
}

/** Sends ordinary queries as fast as they are answered, so that the server allocates its working memory. */
async function warmUp({ server, keys, warmSeconds }: TrialOptions): Promise<void> {
  const questions = ordinaryQuestions(server.url, keys.bystander);
  let asked = 0;
  const next = forSeconds(warmSeconds, () => questions[asked++ % questions.length]!);
  await measureLoad({ url: server.url, connections: WARM_CONNECTIONS, next });
}

async function loopSince(server: WatchedServer, sinceMs: number): Promise<LoopHolds> {
  return { longestHoldMs: await server.takeLongestHoldMs(), longestTurnMs: server.longestTurnMs(sinceMs) };
}

function watchMemory(server: WatchedServer) {
  const samples: { readonly atMs: number; readonly bytes: number }[] = [];
  const timer = setInterval(() => {
    samples.push({ atMs: performance.now(), bytes: server.residentBytes() });
  }, SAMPLE_MS);
  return {
    settledBytes: () => median(samples.slice(-SAMPLES_SETTLED).map(({ bytes }) => bytes)),
    peakBytesSince: (ms: number) =>
      Math.max(...samples.filter(({ atMs }) => atMs >= ms).map(({ bytes }) => bytes)),
    stop: () => clearInterval(timer),
  };
}

/** The requests that were due in a period, whenever they were answered. */
function stretchOf(all: readonly Asked[], startMs: number, endMs: number): Stretch {
  const asked = all.filter(({ dueMs }) => dueMs >= startMs && dueMs < endMs);
  if (asked.length === 0) throw new Error("the well-behaved app asked nothing in a stretch: make it longer");
  const latencies = asked.map(({ latencyMs }) => latencyMs).sort((a, b) => a - b);
  const failures: Record<string, number> = {};
  for (const { failure } of asked) if (failure !== null) failures[failure] = (failures[failure] ?? 0) + 1;
  return {
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
    maxMs: latencies.at(-1)!,
    asked: asked.length,
    failures,
  };
}
