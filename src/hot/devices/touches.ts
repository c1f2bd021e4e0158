import { FloatColumn } from "../../lib/tables/columns.ts";

/** By which entry of the log each device of an app was last touched, and when one was last forgotten. */
export class Touches {
  #sequence = 0;
  #removals = 0;
  #begunAt = 0;
  readonly #byDevice = new FloatColumn();

  /** An entry changed something of the device: a record of it is new or other than before, newest or not. */
  note(device: number, sequence: number): void {
    this.#byDevice.set(device, sequence);
    this.#sequence = sequence;
  }

  /** The device is gone, and its number may become another's. */
  remove(device: number): void {
    this.#byDevice.set(device, Number.NEGATIVE_INFINITY);
    this.#removals++;
  }

  /** Everything up to this entry is known, whichever touched the app: the start is over. */
  begin(sequence: number): void {
    this.#begunAt = sequence;
    this.#sequence = sequence;
  }

  /** No entry after this one has changed anything of the app. */
  get sequence(): number {
    return this.#sequence;
  }

  /** No entry after this one has changed anything of the device. */
  sequenceOf(device: number): number {
    return Math.max(this.#byDevice.of(device), this.#begunAt);
  }

  /** Another text whenever anything of the app is other than before, as long as the process runs. */
  get version(): string {
    return `${this.#sequence}.${this.#removals}`;
  }
}
