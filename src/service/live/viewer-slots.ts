import type { AppId } from "../../model/ids.ts";

/** Of a key, so that a program that opens streams and forgets them has room for its owner's others. */
const OF_KEY_MAX = 64;
/** Of a share link, which many people have open at once. */
const OF_VIEW_KEY_MAX = 512;

/** Who wants to listen. */
export interface Listener {
  readonly appId: AppId;
  readonly keyId: string;
  /** Whether the key is a share link's. */
  readonly isView: boolean;
}

/** How many viewers may listen at once: in all, of an app, of a key. */
export class ViewerSlots {
  readonly max: number;
  readonly #ofAppMax: number;
  readonly #ofApps = new Map<AppId, number>();
  readonly #ofKeys = new Map<string, number>();
  #taken = 0;

  constructor(viewersMax: number) {
    this.max = viewersMax;
    this.#ofAppMax = Math.ceil(viewersMax / 2);
  }

  get taken(): number {
    return this.#taken;
  }

  /** Returns what frees the slot, however often it is called; null where there is none. */
  take({ appId, keyId, isView }: Listener): (() => void) | null {
    const ofKeyMax = isView ? OF_VIEW_KEY_MAX : OF_KEY_MAX;
    if (this.#taken >= this.max) return null;
    if (countOf(this.#ofApps, appId) >= this.#ofAppMax) return null;
    if (countOf(this.#ofKeys, keyId) >= ofKeyMax) return null;
    this.#change(appId, keyId, 1);
    let isFree = false;
    return () => {
      if (isFree) return;
      isFree = true;
      this.#change(appId, keyId, -1);
    };
  }

  #change(appId: AppId, keyId: string, by: 1 | -1): void {
    this.#taken += by;
    add(this.#ofApps, appId, by);
    add(this.#ofKeys, keyId, by);
  }
}

function countOf<Owner>(counts: ReadonlyMap<Owner, number>, owner: Owner): number {
  return counts.get(owner) ?? 0;
}

function add<Owner>(counts: Map<Owner, number>, owner: Owner, by: 1 | -1): void {
  const count = countOf(counts, owner) + by;
  if (count === 0) counts.delete(owner);
  else counts.set(owner, count);
}
