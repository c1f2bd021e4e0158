/** A number of each device, by the device's; all begin as the same one, and no memory is taken before another is set. */
export class NumberColumn<Values extends Uint32Array | Int32Array | Float64Array> {
  readonly #create: (length: number) => Values;
  readonly #first: number;
  #values: Values;

  constructor(create: (length: number) => Values, first: number) {
    this.#create = create;
    this.#first = first;
    this.#values = create(0);
  }

  of(device: number): number {
    return device < this.#values.length ? this.#values[device]! : this.#first;
  }

  set(device: number, value: number): void {
    if (device >= this.#values.length) this.#grow(device + 1);
    this.#values[device] = value;
  }

  #grow(devices: number): void {
    const known = this.#values;
    const grown = this.#create(Math.max(devices, 2 * known.length));
    if (this.#first !== 0) grown.fill(this.#first, known.length);
    grown.set(known);
    this.#values = grown;
  }
}
