import type { AppDevices } from "../../hot/app-devices.ts";
import type { Changes } from "./live.ts";
import type { ToldRecords } from "./told-records.ts";

/** Some 100 kB of text: what is made for a viewer before it has taken what was made before. */
const PART_RECORDS_MAX = 256;

/** What a viewer is told at once, in parts that are made when they are asked for. */
export class Event {
  readonly sequence: number;
  readonly #app: AppDevices;
  readonly #told: ToldRecords | null;
  /** The position of the app's next change when the devices were found. */
  readonly #foundAt: number;
  #devices: Uint32Array;
  #isBegun = false;
  #isOver = false;

  /** Of the devices those that `told` has news of, where it is not null. */
  constructor(app: AppDevices, devices: Uint32Array, sequence: number, told: ToldRecords | null) {
    this.#app = app;
    this.#told = told;
    this.#devices = told?.findNews(app, devices) ?? devices;
    this.sequence = sequence;
    this.#foundAt = app.changes.end;
  }

  /** Whether there is nothing to tell. */
  get isEmpty(): boolean {
    return this.#devices.length === 0;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Records are shown as they are now, which may be newer than the event. */
  nextPart(): Changes {
    const { changes, newestRecords } = this.#app;
    // Devices went, and numbers may be others': the event ends with what was told, and a reset follows.
    if (changes.clearedAt > this.#foundAt) this.#devices = this.#devices.subarray(0, 0);
    const told = this.#told;
    const isFirst = !this.#isBegun;
    // What was news may have become what the viewer knows while the parts before were on their way.
    if (told !== null && !isFirst) this.#devices = told.findNews(this.#app, this.#devices);
    const devices = this.#devices.subarray(0, PART_RECORDS_MAX);
    told?.note(this.#app, devices);
    this.#devices = this.#devices.subarray(PART_RECORDS_MAX);
    this.#isBegun = true;
    this.#isOver = this.#devices.length === 0;
    return { records: newestRecords, devices, isFirst, isLast: this.#isOver, sequence: this.sequence };
  }
}
