import { readReports } from "../../../src/http/body/read-reports.ts";
import { assert } from "../../../src/lib/assert.ts";
import type { ReportBatch } from "../../../src/model/report-batch.ts";
import { createManualClock } from "../../../src/model/time/clock.ts";
import { MS_PER_DAY } from "../../../src/model/time/units.ts";
import { median } from "../figures/report.ts";
import { batchesOf } from "../fleets/batches.ts";
import { createMetropolis, drawPoints } from "../fleets/metropolis.ts";
import { MovingDevices } from "../fleets/moving-devices.ts";
import { NEARBY_KINDS, nearbyQuestion, pageCount } from "../http/nearby-kinds.ts";
import { processorMicros } from "../run/processor-time.ts";
import { AskedCity } from "./asked-city.ts";

/*
 * How much queries about a city slow down by reports between them. Bodies are parsed as in a server, which leaves
 * garbage and uses the caches; the parsing itself is not charged to the queries.
 */

const AGE_HOURS = 24;
const NOW_MS = Date.UTC(2026, 10, 21);
const CITY_BATCH = 1000;
/** Points drawn per query, since some don't have a full page. */
const POINTS_A_QUESTION = 1.5;
const RULES = {
  times: { oldestMs: 0, newestMs: Number.MAX_SAFE_INTEGER },
  binding: { deviceId: null, userId: null },
};

export interface InterferenceOptions {
  readonly devices: number;
  /** The number of different queries. */
  readonly questions: number;
  readonly rounds: number;
  /** The batches of a slice with reports; equally many precede it without timing. */
  readonly batches: number;
  readonly batchSize: number;
  readonly reportsPerSecond: number;
  readonly questionsPerSecond: number;
  /** The number of queries whose answers are compared after each round. */
  readonly compared: number;
  readonly seed: number;
}

/** Medians over the rounds, in microseconds of processor time. */
export interface Interference {
  readonly movingDevices: number;
  readonly aloneMicros: number;
  readonly besideMicros: number;
  readonly applyMicros: number;
  /** The number of answers that matched those of a store without cached encodings. */
  readonly compared: number;
}

export async function measureInterference(options: InterferenceOptions): Promise<Interference> {
  const measurement = new Measurement(options);
  await measurement.chooseQuestions();
  return measurement.run();
}

class Measurement {
  readonly #options: InterferenceOptions;
  readonly #clock = createManualClock(NOW_MS);
  readonly #city = new AskedCity(this.#clock);
  readonly #cityBatches: readonly ReportBatch[];
  readonly #moving: MovingDevices;
  readonly #movingCount: number;
  /** The last batches, which include every moving device. */
  #moves: ReportBatch[] = [];
  #paths: readonly string[] = [];
  #asked = 0;

  constructor(options: InterferenceOptions) {
    const { devices, batchSize, seed } = options;
    this.#options = options;
    const metropolis = createMetropolis({ devices, seed, nowMs: NOW_MS });
    const live = Array.from(metropolis.timestampMs.keys()).filter(
      (index) => metropolis.timestampMs[index]! >= NOW_MS - MS_PER_DAY,
    );
    this.#movingCount = live.length;
    this.#moving = new MovingDevices({ metropolis, devices: live, batchSize, seed });
    const reports = Array.from({ length: devices }, (_, index) => metropolis.report(index));
    this.#cityBatches = [...batchesOf(reports, CITY_BATCH)];
    for (const batch of this.#cityBatches) this.#city.apply(batch);
  }

  /** Chooses queries with a full page. */
  async chooseQuestions(): Promise<void> {
    const { questions, seed } = this.#options;
    const kind = NEARBY_KINDS[0]!;
    const paths = drawPoints(Math.ceil(questions * POINTS_A_QUESTION), seed + 1).map(
      (center) => nearbyQuestion(kind, center, AGE_HOURS).path,
    );
    const full: string[] = [];
    for (const path of paths) {
      if (pageCount(Buffer.from(await this.#city.ask(path))) === kind.limit) full.push(path);
    }
    this.#paths = (full.length > 0 ? full : paths).slice(0, questions);
  }

  async run(): Promise<Interference> {
    const alone: number[] = [];
    const beside: number[] = [];
    const apply: number[] = [];
    let compared = 0;
    for (let round = 0; round < this.#options.rounds; round++) {
      const isAloneFirst = round % 2 === 0;
      if (isAloneFirst) alone.push(await this.#askAlone());
      await this.#reportAndAsk();
      const { questionMicros, applyMicros } = await this.#reportAndAsk();
      beside.push(questionMicros);
      apply.push(applyMicros);
      compared += await this.#compare();
      if (!isAloneFirst) alone.push(await this.#askAlone());
    }
    return {
      movingDevices: this.#movingCount,
      aloneMicros: median(alone),
      besideMicros: median(beside),
      applyMicros: median(apply),
      compared,
    };
  }

  /** Microseconds per query. */
  async #askAlone(): Promise<number> {
    const questions = this.#options.batches * this.#questionsABatch;
    await this.#ask(this.#paths.length); // Encodes records that changed since the last reports.
    Bun.gc(true);
    const startMicros = processorMicros();
    await this.#ask(questions);
    return (processorMicros() - startMicros) / questions;
  }

  async #reportAndAsk() {
    const { batches, batchSize, reportsPerSecond } = this.#options;
    const stepMs = (batchSize / reportsPerSecond) * 1000;
    const startMs = this.#clock.nowMs();
    const bodies = Array.from({ length: batches }, (_, step) =>
      this.#moving.body(startMs + (step + 1) * stepMs),
    );
    Bun.gc(true); // The garbage of making the bodies.
    let questionsMicros = 0;
    let appliesMicros = 0;
    for (const body of bodies) {
      this.#clock.advance(stepMs);
      const batch = parse(body);
      this.#moves.push(batch);
      const startMicros = processorMicros();
      this.#city.apply(batch);
      const appliedMicros = processorMicros();
      await this.#ask(this.#questionsABatch);
      appliesMicros += appliedMicros - startMicros;
      questionsMicros += processorMicros() - appliedMicros;
    }
    this.#moves = this.#moves.slice(-Math.ceil(this.#movingCount / batchSize) - 1);
    return {
      questionMicros: questionsMicros / (batches * this.#questionsABatch),
      applyMicros: appliesMicros / (batches * batchSize),
    };
  }

  get #questionsABatch(): number {
    const { batchSize, reportsPerSecond, questionsPerSecond } = this.#options;
    return Math.round((questionsPerSecond * batchSize) / reportsPerSecond);
  }

  async #ask(count: number): Promise<void> {
    for (let index = 0; index < count; index++) {
      await this.#city.ask(this.#paths[this.#asked++ % this.#paths.length]!);
    }
  }

  /** Sends the same reports to another city, which encodes everything anew. */
  async #compare(): Promise<number> {
    const anew = new AskedCity(this.#clock);
    for (const batch of [...this.#cityBatches, ...this.#moves]) anew.apply(batch);
    const paths = this.#paths.slice(0, this.#options.compared);
    for (const path of paths) {
      const [ours, theirs] = [foundOf(await this.#city.ask(path)), foundOf(await anew.ask(path))];
      assert(Buffer.compare(ours, theirs) === 0, `${path} is answered as if nothing had been encoded before`);
    }
    return paths.length;
  }
}

/** Removes the number of candidates, which depends on the history of the index. */
function foundOf(answer: Uint8Array): Uint8Array {
  const end = Buffer.from(answer.buffer, answer.byteOffset, answer.length).lastIndexOf('"total_candidates"');
  assert(end > 0, "an answer tells its candidates");
  return answer.subarray(0, end);
}

function parse(body: Uint8Array): ReportBatch {
  const steps = readReports(body, "json", RULES);
  let step = steps.next();
  while (!step.done) step = steps.next();
  const read = step.value;
  assert(read.ok && read.value.rejected.length === 0, "every report of the bench is good");
  return read.value.batches[0]!;
}
