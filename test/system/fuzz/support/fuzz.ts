import { seededRandom } from "../../../support/seeded-random.ts";
import type { Coverage } from "./coverage.ts";
import { mutate } from "./inputs/mutate.ts";
import { faultOf } from "./run-input.ts";
import { shrink } from "./shrink.ts";
import type { Target } from "./target.ts";

export interface FuzzOptions {
  readonly seed: number;
  readonly timeMs: number;
  readonly coverage: Coverage;
  /** Inputs that earlier runs found worth keeping. */
  readonly corpus: readonly Uint8Array[];
}

export interface Fuzzed {
  readonly runs: number;
  /** Blocks of code that ran. */
  readonly blocks: number;
  /** Inputs of this run that made something run that nothing before had. */
  readonly kept: readonly Uint8Array[];
  readonly failure: { readonly input: Uint8Array; readonly fault: string } | null;
}

/** Coverage is read once for so many inputs; where there is something new, they run again by halves. */
const BATCH_RUNS = 256;
const SHRINK_MS_MAX = 5000;

/** Inputs to begin with that mean anything, so that decisions are made where they are read from. */
const RANDOM_INPUTS = 64;
const RANDOM_BYTES_MAX = 512;

/** Runs changed inputs of the corpus for so long, or until one fails; those that reach new code join the corpus. */
export async function fuzz(target: Target, options: FuzzOptions): Promise<Fuzzed> {
  const { seed, timeMs, coverage, corpus: known } = options;
  const random = seededRandom(seed);
  const endMs = performance.now() + timeMs;
  const corpus: Uint8Array[] = [];
  const kept: Uint8Array[] = [];
  let runs = 0;
  let blocks = 0;

  const pick = () => corpus[Math.floor(random() * corpus.length)] ?? new Uint8Array();

  /** The first that fails; null where none does. */
  async function run(inputs: readonly Uint8Array[]): Promise<Uint8Array | null> {
    for (const input of inputs) {
      runs++;
      if ((await faultOf(target, input)) !== null) return input;
    }
    return null;
  }

  /** Takes the inputs among these into the corpus that make something run, each after those before it. */
  async function keepNew(inputs: readonly Uint8Array[]): Promise<void> {
    await run(inputs);
    const taken = await coverage.take();
    if (coverage.countNew(taken) === 0) return;
    if (inputs.length === 1) {
      blocks += coverage.add(taken);
      kept.push(inputs[0]!);
      corpus.push(inputs[0]!);
      return;
    }
    const half = inputs.length >> 1;
    await keepNew(inputs.slice(0, half));
    await keepNew(inputs.slice(half));
  }

  /** The first input that fails; null where none does. */
  async function runBatch(inputs: readonly Uint8Array[]): Promise<Uint8Array | null> {
    const failed = await run(inputs);
    if (failed !== null) return failed;
    const taken = await coverage.take();
    if (coverage.countNew(taken) === 0) return null;
    await keepNew(inputs);
    blocks += coverage.add(taken); // What ran once and not again, such as the first use of a cache.
    return null;
  }

  async function failureOf(input: Uint8Array): Promise<NonNullable<Fuzzed["failure"]>> {
    const fails = async (smaller: Uint8Array) => (await faultOf(target, smaller)) !== null;
    const least = await shrink(input, fails, SHRINK_MS_MAX);
    return { input: least, fault: (await faultOf(target, least)) ?? "it fails at times" };
  }

  const given: Uint8Array[] = [new Uint8Array(), ...target.seeds(), ...known].map((input) =>
    input.slice(0, target.bytesMax),
  );
  for (let i = 0; i < RANDOM_INPUTS; i++)
    given.push(randomBytes(random, Math.min(RANDOM_BYTES_MAX, target.bytesMax)));
  let failed = await runBatch(given);
  corpus.push(...given);
  while (failed === null && performance.now() < endMs) {
    const change = () => mutate(random, pick(), pick, target.bytesMax);
    failed = await runBatch(Array.from({ length: BATCH_RUNS }, change));
  }
  return { runs, blocks, kept, failure: failed === null ? null : await failureOf(failed) };
}

function randomBytes(random: () => number, lengthMax: number): Uint8Array {
  return Uint8Array.from({ length: random() * lengthMax }, () => random() * 256);
}
