import { median, readable } from "../../figures/report.ts";
import type { Metropolis, MetropolisOptions, Point } from "../../fleets/metropolis.ts";
import type { BenchRun } from "../../run/bench.ts";
import type { Child } from "../../run/child.ts";
import type { Peer } from "../contender.ts";
import { type Turn, takeTurn } from "../turn.ts";
import { PeerMoves } from "./peer-moves.ts";
import { startWriter, type WriterOrder, type Written } from "./writer.ts";

/* Peers that are queried while their devices move, each written to realistically. */

/** Twice the time until the slowest peer's answers have the written data. */
const SETTLE_MS = 2000;

export interface BesideWritesOptions {
  readonly run: BenchRun;
  readonly peers: readonly Peer[];
  readonly metropolis: Metropolis;
  /** The options of the metropolis. */
  readonly metropolisOptions: MetropolisOptions;
  readonly oldestMs: number;
  readonly points: readonly Point[];
}

/** A peer, its first kind of query, and its writer. */
interface Racer {
  readonly peer: Peer;
  readonly writer: Child<WriterOrder, Written>;
  readonly alone: Turn[];
  readonly beside: Turn[];
  readonly written: Written[];
}

/** Returns the final positions, which are the same in every peer. */
export async function raceBesideWrites(
  options: BesideWritesOptions,
): Promise<Pick<Metropolis, "latitude" | "longitude">> {
  const { run, peers, metropolis, metropolisOptions, oldestMs } = options;
  const seed = run.size("seed");
  const racers: Racer[] = [];
  try {
    for (const peer of peers) {
      const { address } = peer;
      const writer = await startWriter({ address, metropolis: metropolisOptions, oldestMs, seed });
      racers.push({ peer, writer, alone: [], beside: [], written: [] });
    }
    for (let round = 0; round < run.size("writeRounds"); round++) {
      for (const racer of racers) await addRound(options, racer, round);
    }
    const upTo = Math.max(...racers.map(({ written }) => written.at(-1)!.moves));
    for (const { writer } of racers) await writer.ask({ upTo });
    await Bun.sleep(SETTLE_MS);
    report(run, racers);
    return new PeerMoves(metropolis, oldestMs, seed).after(upTo);
  } finally {
    for (const { writer } of racers) await writer.end();
  }
}

/** Measures with and without writes, each first equally often. */
async function addRound({ run, points }: BesideWritesOptions, racer: Racer, round: number): Promise<void> {
  const { peer, writer, alone, beside, written } = racer;
  let asked = round;
  const seconds = run.size("seconds");
  const turn = () =>
    takeTurn({
      contender: peer.contenders[0]!,
      connections: run.size("connections"),
      seconds,
      next: () => points[asked++ % points.length]!,
    });
  const takeAlone = async () => alone.push(await turn());
  const takeBeside = async () => {
    const order = { movesPerSecond: run.size("movesPerSecond"), seconds };
    const [turned, wrote] = await Promise.all([turn(), writer.ask(order)]);
    beside.push(turned);
    written.push(wrote);
  };
  for (const take of round % 2 === 0 ? [takeAlone, takeBeside] : [takeBeside, takeAlone]) await take();
}

function report(run: BenchRun, racers: readonly Racer[]): void {
  for (const { peer, alone, beside, written } of racers) {
    const { name } = peer.contenders[0]!;
    const figure = (what: string, unit: string, runs: readonly number[]) => ({
      name: `${name}, ${what}`,
      unit,
      runs,
    });
    const rate = ({ answersPerSecond }: Turn) => answersPerSecond;
    const [besideRate, aloneRate] = [
      figure("beside writes", "answers/s", beside.map(rate)),
      figure("between writes", "answers/s", alone.map(rate)),
    ];
    run.figures([
      aloneRate,
      besideRate,
      figure(
        "moves taken",
        "moves/s",
        written.map(({ movesPerSecond }) => movesPerSecond),
      ),
    ]);
    run.ratio(`${name}: answers beside writes, of those between`, besideRate, aloneRate);
    const middle = (turns: readonly Turn[], of: (turn: Turn) => number) => readable(median(turns.map(of)));
    const latency = (turns: readonly Turn[]) =>
      `p50 ${middle(turns, ({ p50Ms }) => p50Ms)} ms, p99 ${middle(turns, ({ p99Ms }) => p99Ms)} ms`;
    run.note(`${name}: between writes ${latency(alone)}; beside them ${latency(beside)}`);
  }
}
