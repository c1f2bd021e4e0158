/** Who holds something of a pool: a key, and the app that it is of. */
export interface Holder {
  readonly appId: string;
  readonly keyId: string;
}

/**
 * So much of something for many. Who holds less than is left may take more, a key as long as it holds less than half of
 * that. So one key comes to a third and one app to a half, and who is new finds something. Of n apps that all want
 * everything each comes to the (n+1)th part in time, since those that hold more get nothing of what comes back.
 * (Switches share their buffers so: "dynamic thresholds".)
 */
export class SharedPool {
  readonly max: number;
  readonly #apps = new Map<string, AppHoldings>();
  #taken = 0;

  constructor(max: number) {
    this.max = max;
  }

  get taken(): number {
    return this.#taken;
  }

  /** Apps that hold anything. */
  get apps(): number {
    return this.#apps.size;
  }

  /** False where the holder has its share, or there is not as much left; then nothing is taken. */
  take({ appId, keyId }: Holder, amount: number): boolean {
    const left = this.max - this.#taken;
    const app = this.#apps.get(appId) ?? { taken: 0, keys: new Map<string, number>() };
    const ofKey = app.keys.get(keyId) ?? 0;
    if (amount > left || app.taken >= left || 2 * ofKey >= left) return false;
    this.#taken += amount;
    app.taken += amount;
    app.keys.set(keyId, ofKey + amount);
    this.#apps.set(appId, app);
    return true;
  }

  /** Gives back what was taken. */
  give({ appId, keyId }: Holder, amount: number): void {
    const app = this.#apps.get(appId);
    if (app === undefined) return;
    const ofKey = (app.keys.get(keyId) ?? 0) - amount;
    this.#taken -= amount;
    app.taken -= amount;
    if (ofKey > 0) app.keys.set(keyId, ofKey);
    else app.keys.delete(keyId);
    if (app.keys.size === 0) this.#apps.delete(appId);
  }
}

interface AppHoldings {
  taken: number;
  readonly keys: Map<string, number>;
}
