const NEVER_MS = Number.NEGATIVE_INFINITY;

/** An instant of each device, by its number; -Infinity where none is set. No memory is taken before the first is. */
export class TimeColumn {
  #timesMs = new Float64Array(0);

  /** Milliseconds by device number; until another device is set. */
  get byDevice(): Float64Array {
    return this.#timesMs;
  }

  of(device: number): number {
    return device < this.#timesMs.length ? this.#timesMs[device]! : NEVER_MS;
  }

  set(device: number, timestampMs: number): void {
    if (device >= this.#timesMs.length) this.#grow(Math.max(device + 1, 2 * this.#timesMs.length));
    this.#timesMs[device] = timestampMs;
  }

  /** Makes room for this many devices. */
  reserve(devices: number): void {
    if (devices > this.#timesMs.length) this.#grow(devices);
  }

  #grow(devices: number): void {
    const timesMs = new Float64Array(devices).fill(NEVER_MS);
    timesMs.set(this.#timesMs);
    this.#timesMs = timesMs;
  }
}
