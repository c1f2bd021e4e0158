import { grown } from "../../lib/tables/columns.ts";

/** A mark on each device of an app, for whoever sorts some of them out: all are wiped by taking the next mark. */
export class DeviceMarks {
  #marks = new Uint32Array(0);
  #last = 0;

  /** One that no device has. */
  next(): number {
    if (++this.#last > 0xffff_ffff) {
      this.#marks.fill(0);
      this.#last = 1;
    }
    return this.#last;
  }

  of(device: number): number {
    return this.#marks[device] ?? 0;
  }

  set(device: number, mark: number): void {
    if (device >= this.#marks.length) this.#marks = grown(this.#marks, device + 1);
    this.#marks[device] = mark;
  }

  /** Gives these devices a mark that no other has. */
  setAll(devices: Iterable<number>): number {
    const mark = this.next();
    for (const device of devices) this.set(device, mark);
    return mark;
  }
}
