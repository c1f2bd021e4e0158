import { median } from "../figures/report.ts";
import { startWaitMeter } from "../http/wait-meter.ts";
import { forSeconds, measureLoad } from "../servers/load.ts";
import { percentile } from "../servers/open-load.ts";
import { armAttack, type Outcomes } from "./attack/attack.ts";
import { type Asked, ordinaryQuestions, startBystander } from "./bystander.ts";
import type { Keys } from "./directories.ts";
import type { WatchedServer } from "./watched-server.ts";

/** What the well-behaved app noticed in one stretch of time. */
export interface Stretch {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly asked: number;
  /** Requests that got no 200, by what they got. */
  readonly failures: Outcomes;
}

/** One shape against one server: alone, under attack, and alone again. */
export interface Trial {
  readonly before: Stretch;
  readonly during: Stretch;
  readonly after: Stretch;
  /** The event loop, alone, and from the attack's first byte until its traces are gone. */
  readonly quietLoop: LoopHolds;
  readonly loop: LoopHolds;
  readonly residentBytes: { readonly before: number; readonly peak: number; readonly after: number };
  /** From the attack's end until memory was back below what it may keep, or until nobody waited any more. */
  readonly settledMs: number;
  /**
   * Of the time, how much the server could have run but had no core, in percent; null where the system doesn't tell.
   */
  readonly waitPercent: number | null;
  readonly outcomes: Outcomes;
}

/** What kept the event loop from looking at requests. */
export interface LoopHolds {
  /** By the clock, and as the server itself tells: what requests waited. */
  readonly longestHoldMs: number;
  /** By processor time: what of it was the server's own work. */
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
  /** How long memory may take to come back. */
  readonly settleSeconds: number;
}

/** Memory that may be left above that of before, in shares of it. */
export const RESIDENT_TIMES_MAX = 1.2;

const WARM_CONNECTIONS = 8;
const SAMPLE_MS = 50;
/** The last samples of a stretch say what memory is; it swings from one to the next. */
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
    const lateMs = endMs + options.settleSeconds * 1000;
    while (!isSettled() && performance.now() < lateMs) await Bun.sleep(SAMPLE_MS);
    const settledMs = performance.now() - endMs;
    const asked = await bystander.stop();
    return {
      before: stretchOf(asked, startMs, beginMs),
      during: stretchOf(asked, beginMs, endMs),
      after: stretchOf(asked, endMs, overMs),
      quietLoop,
      loop: await loopSince(server, sinceMs),
      residentBytes: { before, peak: memory.peakBytesSince(beginMs), after: memory.settledBytes() },
      settledMs,
      waitPercent: readWait(),
      outcomes,
    };
  } finally {
    memory.stop();
    await bystander.stop();
  }
}

/** As many ordinary questions as it answers: a server that was never busy has not taken what memory it works in. */
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

/** Of what was due in it, whenever it was answered. */
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
