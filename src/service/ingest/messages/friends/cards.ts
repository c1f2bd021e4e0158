/** The apps keep a name that they were told. */
const CARD_INTERVAL_MS = 60 * 60 * 1000;
/** Devices of an app that are told names; beyond that, until others have been silent for an hour, none is. */
const ASKERS_MAX = 1000;

/** Which names a device was told when. */
export class Cards {
  /** In Unix ms, by friend, by who asked; those who asked last stand behind the others. */
  readonly #toldMs = new Map<string, Map<string, number>>();

  /** Whether a device is to be told a friend's name now, which is then noted. */
  isDue(asker: string, friend: string, nowMs: number): boolean {
    const told = this.#ofAsker(asker, nowMs);
    if (told === null || nowMs - (told.get(friend) ?? Number.NEGATIVE_INFINITY) < CARD_INTERVAL_MS)
      return false;
    for (const [other, toldMs] of told) if (nowMs - toldMs >= CARD_INTERVAL_MS) told.delete(other);
    told.set(friend, nowMs);
    return true;
  }

  #ofAsker(asker: string, nowMs: number): Map<string, number> | null {
    let told = this.#toldMs.get(asker);
    if (told === undefined) {
      if (this.#toldMs.size >= ASKERS_MAX && !this.#forgetOne(nowMs)) return null;
      told = new Map();
    } else this.#toldMs.delete(asker);
    this.#toldMs.set(asker, told);
    return told;
  }

  /** Forgets who asked longest ago, where that was more than an hour. */
  #forgetOne(nowMs: number): boolean {
    for (const [asker, told] of this.#toldMs) {
      const lastMs = Math.max(...told.values());
      if (nowMs - lastMs < CARD_INTERVAL_MS) return false;
      this.#toldMs.delete(asker);
      return true;
    }
    return false;
  }
}
