import type { DeviceId } from "../../model/ids.ts";
import { NUMBER_FIELDS } from "../../model/location-fields.ts";
import type { RecordPage } from "../../model/record-page.ts";
import type { Device } from "../devices/device.ts";
import { type Chunk, copyNumbers, profileAt, stateAt, timestampAt } from "../records/chunk.ts";
import type { Dictionary } from "../records/dictionary.ts";

const FIELDS = NUMBER_FIELDS.length;

/** Copies records out of the store one by one, so that later reports do not change the page. */
export class PageBuilder {
  readonly #dictionary: Dictionary;
  readonly #deviceIds: DeviceId[] = [];
  readonly #timestampMs: Float64Array;
  readonly #numbers: Float64Array;
  readonly #profile: Uint32Array;
  readonly #state: Uint32Array;

  constructor(rowsMax: number, dictionary: Dictionary) {
    this.#dictionary = dictionary;
    this.#timestampMs = new Float64Array(rowsMax);
    this.#numbers = new Float64Array(rowsMax * FIELDS);
    this.#profile = new Uint32Array(rowsMax);
    this.#state = new Uint32Array(rowsMax);
  }

  get room(): number {
    return this.#profile.length - this.#deviceIds.length;
  }

  get isFull(): boolean {
    return this.room === 0;
  }

  add(device: Device, chunk: Chunk, row: number): void {
    const index = this.#deviceIds.length;
    this.#deviceIds.push(device.id);
    this.#timestampMs[index] = timestampAt(chunk, row);
    this.#profile[index] = profileAt(chunk, row);
    this.#state[index] = stateAt(chunk, row);
    copyNumbers(chunk, row, this.#numbers, index * FIELDS);
  }

  build(): RecordPage {
    return {
      count: this.#deviceIds.length,
      deviceIds: this.#deviceIds,
      timestampMs: this.#timestampMs,
      numbers: this.#numbers,
      profile: this.#profile,
      state: this.#state,
      dictionary: this.#dictionary.edition,
    };
  }
}

/** A page in order of time, then of devices, or the reverse. Its texts are valid until reports come in. */
export interface Timeline {
  readonly page: RecordPage;
  /** Matching records before paging. */
  readonly total: number;
  /** Devices with a matching record. */
  readonly devices: number;
  readonly bytesRead: number;
}
