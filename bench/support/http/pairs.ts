import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Figure, median } from "../figures/report.ts";
import type { BenchRun } from "../run/bench.ts";
import { bareServerCommand, type ServerProcess, startProcess } from "../servers/server.ts";
import type { Turn } from "./turn.ts";

/** Pairs of turns of our server and its control, over all launches. */
export interface Pairs {
  readonly ours: Turn[];
  readonly control: Turn[];
  /** Turns of a control that is as busy as ours, if there is one. */
  readonly busy: BusyTurn[];
}

/**
 * A turn of a bare server that holds each answer. A saturated client never sleeps; ours and this one's do, and to wake
 * them costs the server 3 to 10 µs that no server can avoid.
 */
export interface BusyTurn extends Turn {
  readonly holdMicros: number;
}

/** How long a bare server must hold an answer to take as long as ours: the difference of their times. */
export function holdMicrosOf(ours: Turn, control: Turn): number {
  return Math.max(0, microsOf(ours) - microsOf(control));
}

/** Processor time of a request, or its share of the turn if the system does not tell. */
function microsOf({ cpuMicros, requestsPerSecond }: Turn): number {
  return cpuMicros ?? 1e6 / requestsPerSecond;
}

/** What a kind of query must reach. An absent goal sets no bound. */
export interface Goals {
  /** The least share of the bare server's requests. */
  readonly shareMin?: number;
  /** The most times that it may take the processor time of a bare server as busy. */
  readonly timesBusyMax?: number;
  /** The maximum processor time per answer. */
  readonly cpuMsMax?: number;
}

export interface Judgement {
  /** Whether the bounds apply to this run. */
  readonly isJudged: boolean;
  /** Whether shares of the bare server may be judged: a slow client limits the control and flatters ours. */
  readonly areSharesJudged: boolean;
}

const MICROS_PER_MS = 1000;

/** Pairs by the kind of query, in the order of their first use. */
export class PairsByName {
  readonly #pairs = new Map<string, Pairs>();

  of(name: string): Pairs {
    const pairs = this.#pairs.get(name) ?? { ours: [], control: [], busy: [] };
    this.#pairs.set(name, pairs);
    return pairs;
  }

  /**
   * Reports requests a second of both, their ratio, and the processor time per request; and the ratio to the processor
   * time of a bare server as busy.
   */
  report(run: BenchRun, name: string, goals: Goals, { isJudged, areSharesJudged }: Judgement): void {
    const pairs = this.#pairs.get(name);
    if (pairs === undefined) return; // Not part of this run.
    const { shareMin, timesBusyMax, cpuMsMax } = goals;
    const figure = (what: string, turns: readonly Turn[]): Figure => ({
      name: `${name}${what}`,
      unit: "requests/s",
      runs: turns.map(({ requestsPerSecond }) => requestsPerSecond),
    });
    const figures: [Figure, Figure] = [figure("", pairs.ours), figure(": bare", pairs.control)];
    const [ourCpu, controlCpu] = [
      cpuFigure(`${name}: processor`, pairs.ours),
      cpuFigure(`${name}: processor, bare`, pairs.control),
    ];
    run.figures([...figures, ...[ourCpu, controlCpu].filter((cpu) => cpu !== null)]);
    const share = areSharesJudged && shareMin !== undefined ? { atLeast: shareMin } : undefined;
    run.ratio(`${name}: share of the bare server`, ...figures, share);
    if (ourCpu === null || controlCpu === null) return;
    // Steadier than requests a second if other processes use the server's core.
    run.ratio(`${name}: share by processor time`, perSecond(ourCpu), perSecond(controlCpu));
    const busyCpu = cpuFigure(`${name}: processor, bare, as busy`, pairs.busy.map(withoutHold));
    if (busyCpu !== null && busyCpu.runs.length > 0) {
      const times = areSharesJudged && timesBusyMax !== undefined ? { atMost: timesBusyMax } : undefined;
      run.figures([busyCpu]);
      run.ratio(`${name}: times a bare server as busy, by processor time`, ourCpu, busyCpu, times);
    }
    if (cpuMsMax === undefined) return;
    const bound = isJudged ? { atMost: cpuMsMax } : undefined;
    run.verdict(`${name}: processor time of the server`, median(ourCpu.runs) / MICROS_PER_MS, "ms", bound);
  }

  /** Reports how long servers waited for their core. */
  reportWaits(run: BenchRun): void {
    const all = [...this.#pairs.values()];
    const ours = all.flatMap((pairs) => pairs.ours);
    const control = all.flatMap((pairs) => pairs.control);
    run.figures([
      ...waitFigure("of the time, ours waited for its core", ours),
      ...waitFigure("of the time, the bare server did", control),
    ]);
  }
}

/**
 * Subtracts the hold. Null if nothing remains: the clock measures the hold, and on a shared core it can exceed the
 * processor time.
 */
function withoutHold({ holdMicros, ...turn }: BusyTurn): Turn {
  const { cpuMicros } = turn;
  return {
    ...turn,
    cpuMicros: cpuMicros === null || cpuMicros <= holdMicros ? null : cpuMicros - holdMicros,
  };
}

/** Empty if the system does not tell. */
function waitFigure(name: string, turns: readonly Turn[]): Figure[] {
  const runs = turns.map(({ waitPercent }) => waitPercent).filter((percent) => percent !== null);
  return runs.length === 0 ? [] : [{ name, unit: "%", runs }];
}

/** Null if the system does not tell. */
function cpuFigure(name: string, turns: readonly Turn[]): Figure | null {
  const runs = turns.map(({ cpuMicros }) => cpuMicros);
  return runs.every((micros) => micros !== null) ? { name, unit: "µs/request", runs } : null;
}

/** Converts to a speed, of which more is better. */
function perSecond(figure: Figure): Figure {
  return { ...figure, unit: "requests/s", runs: figure.runs.map((micros) => 1e6 / micros) };
}

/** Warms up both servers, then sends queries to the control and to ours in turns. */
export async function takePairs(
  pairs: Pairs,
  rounds: number,
  seconds: { readonly warm: number; readonly turn: number },
  ask: (whom: "ours" | "control", seconds: number) => Promise<Turn>,
): Promise<void> {
  await ask("control", seconds.warm);
  await ask("ours", seconds.warm);
  for (let round = 0; round < rounds; round++) {
    pairs.control.push(await ask("control", seconds.turn));
    pairs.ours.push(await ask("ours", seconds.turn));
  }
}

/** Sends a number of bytes, perhaps after holding each answer, or parses reports. */
export type BareMode = { readonly bytes: number; readonly holdMicros?: number } | "parse";

/** Runs a bare server, which sends a number of bytes or parses reports, during `use`. */
export async function withBareServer<T>(
  mode: BareMode,
  launcher: readonly string[],
  use: (bare: ServerProcess) => Promise<T>,
): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), "wherehouse-bare-"));
  try {
    const bare = await startProcess([...launcher, ...bareCommand(mode, join(directory, "body"))]);
    try {
      return await use(bare);
    } finally {
      await bare.stop();
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function bareCommand(mode: BareMode, file: string): string[] {
  if (mode === "parse") return bareServerCommand("parse");
  writeFileSync(file, Buffer.alloc(Math.round(mode.bytes), " "));
  return bareServerCommand("bytes", file, String(mode.holdMicros ?? 0));
}
