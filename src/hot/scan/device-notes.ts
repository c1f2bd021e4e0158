/** A number for each device, until it is dropped; 0 where there is none. Takes no memory before it is used. */
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

  drop(device: number): void {
    if (device < this.#notes.length) this.#notes[device] = 0;
  }
}
