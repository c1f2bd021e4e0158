import type { DeviceId } from "../../model/ids.ts";
import { NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS } from "../../model/location-fields.ts";
import type { RecordDictionary } from "../../model/record-page.ts";
import { NOT_CARRIED, type ReportBatch } from "../../model/report-batch.ts";
import { type Chunk, numberAt, profileAt, stateAt, timestampAt } from "../records/chunk.ts";
import type { Dictionary } from "../records/dictionary.ts";

/** Collects records of an app as a batch of reports that would produce them: the inverse of applying a batch. */
export class ReportCollector {
  readonly #dictionary: Dictionary;
  #edition: RecordDictionary;
  readonly #texts: string[] = [""];
  readonly #textIndexes = new Map<string, number>();
  readonly #device: Uint32Array;
  readonly #timestampMs: Float64Array;
  readonly #numbers: readonly Float64Array[];
  readonly #profile: Uint32Array;
  readonly #state: Uint32Array;
  readonly #profiles: Tuples;
  readonly #states: Tuples;
  #count = 0;
  #lastDeviceId: DeviceId | null = null;
  #lastDevice = 0;

  constructor(rowsMax: number, dictionary: Dictionary) {
    this.#dictionary = dictionary;
    this.#edition = dictionary.edition;
    this.#device = new Uint32Array(rowsMax);
    this.#timestampMs = new Float64Array(rowsMax);
    this.#numbers = NUMBER_FIELDS.map(() => new Float64Array(rowsMax));
    this.#profile = new Uint32Array(rowsMax);
    this.#state = new Uint32Array(rowsMax);
    this.#profiles = { numbers: new Map(), members: [] };
    this.#states = { numbers: new Map(), members: [] };
  }

  get count(): number {
    return this.#count;
  }

  get room(): number {
    return this.#timestampMs.length - this.#count;
  }

  get isFull(): boolean {
    return this.room === 0;
  }

  add(deviceId: DeviceId, chunk: Chunk, row: number): void {
    if (this.#dictionary.edition !== this.#edition) this.#changeEdition();
    const at = this.#count++;
    this.#device[at] = this.#deviceText(deviceId);
    this.#timestampMs[at] = timestampAt(chunk, row);
    for (let field = 0; field < NUMBER_FIELDS.length; field++) {
      this.#numbers[field]![at] = numberAt(chunk, row, field);
    }
    this.#profile[at] = this.#profileOf(profileAt(chunk, row));
    this.#state[at] = this.#stateOf(stateAt(chunk, row));
  }

  build(): ReportBatch {
    const count = this.#count;
    return {
      count,
      texts: this.#texts,
      device: this.#device.subarray(0, count),
      timestampMs: this.#timestampMs.subarray(0, count),
      numbers: this.#numbers.map((column) => column.subarray(0, count)),
      profiles: Uint32Array.from(this.#profiles.members),
      profile: this.#profile.subarray(0, count),
      states: Uint32Array.from(this.#states.members),
      state: this.#state.subarray(0, count),
    };
  }

  /** Collecting may take many turns, and after a new edition a number may mean another profile. */
  #changeEdition(): void {
    this.#edition = this.#dictionary.edition;
    this.#profiles.numbers.clear();
    this.#states.numbers.clear();
  }

  #deviceText(deviceId: DeviceId): number {
    if (deviceId !== this.#lastDeviceId) {
      this.#lastDeviceId = deviceId;
      this.#lastDevice = this.#text(deviceId);
    }
    return this.#lastDevice;
  }

  #profileOf(profile: number): number {
    const known = this.#profiles.numbers.get(profile);
    if (known !== undefined) return known;
    return addTuple(this.#profiles, profile, PROFILE_FIELDS.length, (member) =>
      this.#textOrNothing(this.#edition.profileText(profile, member)),
    );
  }

  #stateOf(state: number): number {
    const known = this.#states.numbers.get(state);
    if (known !== undefined) return known;
    return addTuple(this.#states, state, STATE_FIELDS.length, (member) =>
      this.#textOrNothing(this.#edition.stateText(state, member)),
    );
  }

  #textOrNothing(text: string | null): number {
    return text === null ? NOT_CARRIED : this.#text(text);
  }

  #text(text: string): number {
    const known = this.#textIndexes.get(text);
    if (known !== undefined) return known;
    this.#texts.push(text);
    this.#textIndexes.set(text, this.#texts.length - 1);
    return this.#texts.length - 1;
  }
}

/** The batch's number of each tuple of the dictionary, and the texts of all their members in a row. */
interface Tuples {
  readonly numbers: Map<number, number>;
  readonly members: number[];
}

function addTuple(tuples: Tuples, tuple: number, width: number, textOf: (member: number) => number): number {
  const number = tuples.members.length / width;
  tuples.numbers.set(tuple, number);
  for (let member = 0; member < width; member++) tuples.members.push(textOf(member));
  return number;
}
