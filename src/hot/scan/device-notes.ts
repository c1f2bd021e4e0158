/** A positive number for each device, until it is outdated or dropped; takes no memory before it is used. */
export class DeviceNotes {
  #notes = new Float64Array(0);

  /** All notes, by device number, with room for this many devices. */
  upTo(devices: number): Float64Array {
    if (devices > this.#notes.length) {
      const grown = new Float64Array(Math.max(devices, this.#notes.length * 2));
      grown.set(this.#notes);
      this.#notes = grown;
    }
    return this.#notes;
  }

  /** Negates the device's note, where it has one. */
  outdate(device: number): void {
    if (device < this.#notes.length) this.#notes[device] = -Math.abs(this.#notes[device]!);
  }

  /** Sets the device's note to 0. */
  drop(device: number): void {
    if (device < this.#notes.length) this.#notes[device] = 0;
  }
}
