/** One app's batches on their way to memory: so much at a time, the others in their order behind them. */
export class IngestLane {
  readonly #sizeMax: number;
  readonly #waiting: { readonly size: number; enter(isAlone: boolean | null): void }[] = [];
  #taken = 0;

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  /** Nothing is under way, and nobody waits. */
  get isEmpty(): boolean {
    return this.#taken === 0;
  }

  /**
   * Waits for room, which a batch that is larger than all of it finds where there is no other; true if so. Null for who
   * was turned away: nothing is to be left then.
   */
  async enter(size: number): Promise<boolean | null> {
    if (this.#waiting.length > 0 || !this.#hasRoomFor(size)) {
      return new Promise((enter) => this.#waiting.push({ size, enter }));
    }
    return this.#take(size);
  }

  leave(size: number): void {
    this.#taken -= size;
    while (this.#waiting.length > 0 && this.#hasRoomFor(this.#waiting[0]!.size)) {
      const next = this.#waiting.shift()!;
      next.enter(this.#take(next.size)); // Its room is taken at once: who comes next must not find it.
    }
  }

  /** Nobody is to wait any longer for what is under way. */
  turnAway(): void {
    for (const { enter } of this.#waiting.splice(0)) enter(null);
  }

  #hasRoomFor(size: number): boolean {
    return this.#taken === 0 || this.#taken + size <= this.#sizeMax;
  }

  #take(size: number): boolean {
    const isAlone = this.#taken === 0;
    this.#taken += size;
    return isAlone;
  }
}
