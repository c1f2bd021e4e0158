import { SEGMENT_HEAD_BYTES } from "../../../../src/wal/segment.ts";
import { drawAlikes } from "../reports/odd-texts.ts";
import type { Draws } from "./draws.ts";

/** What a run is like, before anything happens in it. */
export interface RunPlan {
  readonly seed: number;
  /** Whether records move to the archive: such runs take DuckDB, and a hundred times as long. */
  readonly hasSeals: boolean;
  readonly steps: number;
  /** Their devices and users have the same names. */
  readonly apps: readonly string[];
  readonly devices: readonly string[];
  /** Devices that only ever report of long ago. */
  readonly silentDevices: readonly string[];
  readonly users: readonly string[];
  /** How long before the run's start its late reports are from, in days. */
  readonly oldDays: readonly number[];
  /** Whether the log begins with a segment without frames, as a process leaves it that dies before its first report. */
  readonly beginsEmpty: boolean;
  /** Whether clients put whole frames of the log into their batches. */
  readonly isHostile: boolean;
  readonly segmentBytesMax: number;
  /** How likely a step or a start is to meet a fault. */
  readonly faultChance: number;
  /** How likely bytes are to flip while the directory is closed. */
  readonly flipChance: number;
}

export const RUN_START_MS = Date.UTC(2026, 0, 15, 12);

/** One run in so many seals. */
const RUNS_A_SEALING_ONE = 6;

export type RunKind = "any" | "log" | "seals";

/** What happens in a step, with how often it does. */
const LOG_STEPS = { post: 8, burst: 5, clock: 2, restart: 4, backup: 1, ask: 2, acknowledge: 1 };
const SEAL_STEPS = {
  post: 7,
  burst: 3,
  clock: 6,
  seal: 3,
  busySeal: 3,
  badSeal: 3,
  wrongSeal: 2,
  restart: 3,
  backup: 1,
  ask: 2,
  acknowledge: 2,
};
export type Step = keyof typeof SEAL_STEPS;

export function planRun(seed: number, kind: RunKind, draws: Draws): RunPlan {
  const drawn = seed % RUNS_A_SEALING_ONE === 0;
  const hasSeals = kind === "any" ? drawn : kind === "seals";
  const some = (name: string, least: number, most: number) =>
    Array.from({ length: draws.between(least, most) }, (_, i) => `${name}${i + 1}`);
  return {
    seed,
    hasSeals,
    steps: hasSeals ? draws.between(6, 16) : draws.between(10, 36),
    apps: some("app", 3, hasSeals ? 3 : 4),
    devices: drawAlikes("bus", draws.between(1, hasSeals ? 3 : 4), draws),
    silentDevices: draws.chance(0.5) ? ["silent"] : [],
    users: drawAlikes("user", draws.between(1, 3), draws),
    oldDays: Array.from({ length: draws.between(1, 2) }, () =>
      draws.chance(0.2) ? draws.between(355, 364) : draws.between(4, 40),
    ),
    beginsEmpty: draws.chance(0.2),
    isHostile: draws.chance(0.5),
    segmentBytesMax: draws.chance(0.5) ? SEGMENT_HEAD_BYTES + draws.between(500, 4000) : 64 * 1024 * 1024,
    faultChance: draws.pick([0, 0.1, 0.25, 0.5]),
    flipChance: draws.pick([0, 0, 0.2, 0.5]),
  };
}

export function drawStep({ hasSeals }: RunPlan, draws: Draws): Step {
  return hasSeals ? draws.weighted(SEAL_STEPS) : draws.weighted(LOG_STEPS);
}
