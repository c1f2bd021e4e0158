/** The owner of a share of a pool: a key, and its app. */
export interface QuotaOwner {
  readonly appId: string;
  readonly keyId: string;
}

/**
 * A limited amount that many owners share. An owner that has less than what is left may take more; a key only while it
 * has less than half of that. So a single key gets up to a third and a single app up to half, and there is always some
 * left for a new one. If n apps want everything, each gets the (n+1)th part in time, since apps with more get nothing
 * of what comes back. (Network switches share buffers this way: "dynamic thresholds".)
 */
export class SharedPool {
  readonly max: number;
  readonly #apps = new Map<string, AppShare>();
  #used = 0;

  constructor(max: number) {
    this.max = max;
  }

  get used(): number {
    return this.#used;
  }

  /** Apps with any share. */
  get apps(): number {
    return this.#apps.size;
  }

  /** Takes an amount. Returns false, and takes nothing, if the owner has its share or not enough is left. */
  take({ appId, keyId }: QuotaOwner, amount: number): boolean {
    const left = this.max - this.#used;
    const app = this.#apps.get(appId) ?? { used: 0, keys: new Map<string, number>() };
    const ofKey = app.keys.get(keyId) ?? 0;
    if (amount > left || app.used >= left || 2 * ofKey >= left) return false;
    this.#used += amount;
    app.used += amount;
    app.keys.set(keyId, ofKey + amount);
    this.#apps.set(appId, app);
    return true;
  }

  /** Returns an amount to the pool. */
  give({ appId, keyId }: QuotaOwner, amount: number): void {
    const app = this.#apps.get(appId);
    if (app === undefined) return;
    const ofKey = (app.keys.get(keyId) ?? 0) - amount;
    this.#used -= amount;
    app.used -= amount;
    if (ofKey > 0) app.keys.set(keyId, ofKey);
    else app.keys.delete(keyId);
    if (app.keys.size === 0) this.#apps.delete(appId);
  }
}

interface AppShare {
  used: number;
  readonly keys: Map<string, number>;
}
