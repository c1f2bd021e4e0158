import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "./location-fields.ts";
import type { RecordPage } from "./record-page.ts";
import { NOT_CARRIED, type ReportBatch } from "./report-batch.ts";

/**
 * Turns a page of records into the reports that they could have come from. The result shares no memory with the page.
 */
export function pageReports(page: RecordPage): ReportBatch {
  const { count, deviceIds, timestampMs, dictionary } = page;
  const texts = new BatchTexts();
  const profiles = new BatchTuples(texts, PROFILE_FIELDS.length, dictionary.profileText);
  const states = new BatchTuples(texts, STATE_FIELDS.length, dictionary.stateText);
  return {
    count,
    device: Uint32Array.from({ length: count }, (_, row) => texts.indexOf(deviceIds[row]!)),
    timestampMs: timestampMs.slice(0, count),
    numbers: numberColumns(page),
    profile: Uint32Array.from({ length: count }, (_, row) => profiles.indexOf(page.profile[row]!)),
    profiles: profiles.members(),
    state: Uint32Array.from({ length: count }, (_, row) => states.indexOf(page.state[row]!)),
    states: states.members(),
    texts: texts.all,
  };
}

function numberColumns({ count, numbers }: RecordPage): Float64Array[] {
  const width = NUMBER_FIELDS.length;
  return NUMBER_FIELDS.map((_, field) => {
    const column = new Float64Array(count);
    for (let row = 0; row < count; row++) column[row] = numbers[row * width + field]!;
    return column;
  });
}

class BatchTexts {
  readonly all: string[] = [""];
  readonly #indexes = new Map<string, number>();

  indexOf(text: string): number {
    const known = this.#indexes.get(text);
    if (known !== undefined) return known;
    this.#indexes.set(text, this.all.length);
    return this.all.push(text) - 1;
  }
}

class BatchTuples {
  readonly #texts: BatchTexts;
  readonly #width: number;
  readonly #textOf: (tuple: number, member: number) => string | null;
  readonly #indexes = new Map<number, number>();
  readonly #members: number[] = [];

  constructor(texts: BatchTexts, width: number, textOf: (tuple: number, member: number) => string | null) {
    this.#texts = texts;
    this.#width = width;
    this.#textOf = textOf;
  }

  indexOf(tuple: number): number {
    const known = this.#indexes.get(tuple);
    if (known !== undefined) return known;
    const index = this.#indexes.size;
    this.#indexes.set(tuple, index);
    for (let member = 0; member < this.#width; member++) {
      const text = this.#textOf(tuple, member);
      this.#members.push(text === null ? NOT_CARRIED : this.#texts.indexOf(text));
    }
    return index;
  }

  members(): Uint32Array {
    return Uint32Array.from(this.#members);
  }
}
