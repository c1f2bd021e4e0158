import { PAGE_MASK, PAGE_SHIFT } from "../../lib/tables/number-pool.ts";
import { makePageRoom } from "../../lib/tables/pages.ts";

/** By which entry of the log each device of an app was last touched, and when one was last forgotten. */
export class Touches {
  #sequence = 0;
  #removals = 0;
  #begunAt = 0;
  readonly #pages: (Float64Array | undefined)[] = [];

  /** An entry changed something of the device: a record of it is new or other than before, newest or not. */
  note(device: number, sequence: number): void {
    let page = this.#pages[device >>> PAGE_SHIFT];
    const at = device & PAGE_MASK;
    if (page === undefined || at >= page.length) page = makePageRoom(this.#pages, device, createPage);
    page[at] = sequence;
    this.#sequence = sequence;
  }

  /** The device is gone, and its number may become another's. */
  remove(device: number): void {
    const page = this.#pages[device >>> PAGE_SHIFT];
    if (page !== undefined) page[device & PAGE_MASK] = 0;
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

  /** The same of a device. */
  sequenceOf(device: number): number {
    const noted = this.#pages[device >>> PAGE_SHIFT]?.[device & PAGE_MASK] ?? 0;
    return Math.max(noted, this.#begunAt);
  }

  /** Another text whenever anything of the app is other than before, as long as the process runs. */
  get version(): string {
    return `${this.#sequence}.${this.#removals}`;
  }
}

function createPage(length: number): Float64Array {
  return new Float64Array(length);
}
