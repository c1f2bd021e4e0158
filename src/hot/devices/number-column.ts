/** A number of each device, by the device's; each begins as 0, and no memory is taken before another is set. */
export class NumberColumn {
  #values = new Uint32Array(0);

  of(device: number): number {
    return device < this.#values.length ? this.#values[device]! : 0;
  }

  set(device: number, value: number): void {
    if (device >= this.#values.length) this.#grow(device + 1);
    this.#values[device] = value;
  }

  #grow(devices: number): void {
    const grown = new Uint32Array(Math.max(devices, 2 * this.#values.length));
    grown.set(this.#values);
    this.#values = grown;
  }
}
