/** By which entry of the log each device of an app was last touched, and when one was last forgotten. */
export class Touches {
  #sequence = 0;
  #removals = 0;
  #begunAt = 0;
  #byDevice = new Float64Array(0);

  /** An entry changed something of the device: a record of it is new or other than before, newest or not. */
  note(device: number, sequence: number): void {
    if (device >= this.#byDevice.length) this.#grow(device + 1);
    this.#byDevice[device] = sequence;
    this.#sequence = sequence;
  }

  /** The device is gone, and its number may become another's. */
  remove(device: number): void {
    this.#byDevice[device] = 0;
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
    return Math.max(this.#byDevice[device] ?? 0, this.#begunAt);
  }

  /** Another text whenever anything of the app is other than before, as long as the process runs. */
  get version(): string {
    return `${this.#sequence}.${this.#removals}`;
  }

  #grow(devices: number): void {
    const grown = new Float64Array(Math.max(devices, 2 * this.#byDevice.length));
    grown.set(this.#byDevice);
    this.#byDevice = grown;
  }
}
