import type { BenchRun, Bound } from "../run/bench.ts";
import { processorMicros } from "../run/processor-time.ts";
import type { CorrectedServer } from "./corrected-days.ts";

/** The time of an answer: by the clock, and of the processor. */
export interface Took {
  readonly ms: number;
  readonly µs: number;
}

/** A question to the server with corrections, and to the one without. */
export interface BothAsked {
  ours(): Promise<Took>;
  control(): Promise<Took>;
}

/** Rounds that are not counted. */
const WARM = 3;

/** Asks both in turns, and reports what ours takes in times of the control. */
export async function askInTurns(
  run: BenchRun,
  name: string,
  bound: Bound | undefined,
  asked: BothAsked,
): Promise<void> {
  const ours: Took[] = [];
  const control: Took[] = [];
  for (let round = -WARM; round < run.size("rounds"); round++) {
    const turns = [
      async () => control.push(await asked.control()),
      async () => ours.push(await asked.ours()),
    ];
    if (round % 2 === 0) turns.reverse();
    for (const turn of turns) await turn();
  }
  const figure = (what: string, took: readonly Took[], unit: keyof Took) => ({
    name: `${name}${what}`,
    unit,
    runs: took.slice(WARM).map((each) => each[unit]),
  });
  const without = ", without corrections";
  const cpu = [figure(", processor", ours, "µs"), figure(`, processor${without}`, control, "µs")] as const;
  run.figures([figure("", ours, "ms"), figure(without, control, "ms"), ...cpu]);
  // By processor time, which other programs don't change.
  run.ratio(`${name}, times that${without}`, ...cpu, bound);
}

/** What an answer takes, as the mean of some. */
export async function askTimes({ request }: CorrectedServer, path: string, times: number): Promise<Took> {
  const startMs = performance.now();
  const startMicros = processorMicros();
  for (let i = 0; i < times; i++) {
    const answer = await request(path);
    if (answer.status !== 200) throw new Error(`${path} answers ${answer.status}`);
    await answer.arrayBuffer();
  }
  return { ms: (performance.now() - startMs) / times, µs: (processorMicros() - startMicros) / times };
}
