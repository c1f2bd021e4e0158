import type { QuotaOwner } from "../../lib/schedule/shared-pool.ts";

/** Size limits of the quarantine, for a key, for an app and in all. */
export interface ShareBounds {
  readonly keyBytesMax: number;
  readonly appBytesMax: number;
  readonly bytesMax: number;
}

const MIB = 1024 * 1024;

export const DEFAULT_SHARES: ShareBounds = {
  keyBytesMax: 16 * MIB,
  appBytesMax: 64 * MIB,
  bytesMax: 256 * MIB,
};

/**
 * The least size that an entry counts as. Each takes about 300 bytes of memory, so all together take less than 100 MB.
 */
const ENTRY_BYTES_MIN = 1024;

/** The size that an entry counts as, by the bytes of its file. */
export function chargedBytes(fileBytes: number): number {
  return Math.max(fileBytes, ENTRY_BYTES_MIN);
}

/** The owner of an entry's share: its key, or its topic if it came from a broker, where all phones share one key. */
export function holderOf({
  appId,
  keyId,
  topic,
}: QuotaOwner & { readonly topic: string | null }): QuotaOwner {
  return topic === null ? { appId, keyId } : { appId, keyId: `${keyId}\0${topic}` };
}

/** Which share is full. */
export type FullShare = "key" | "app" | "all";

/** The used part of each share. */
export class Shares {
  bytes = 0;
  readonly bounds: ShareBounds;
  readonly #apps = new Map<string, number>();
  readonly #keys = new Map<string, number>();

  constructor(bounds: ShareBounds) {
    this.bounds = bounds;
  }

  /**
   * Returns the share that has no room for these bytes; null if there is room. A key without entries may store one
   * message of any size, because the largest would otherwise never fit. What `others` have counts too.
   */
  findFull(holder: QuotaOwner, bytes: number, ...others: readonly Shares[]): FullShare | null {
    const { keyBytesMax, appBytesMax, bytesMax } = this.bounds;
    const used = (of: (shares: Shares) => number) => others.reduce((sum, each) => sum + of(each), of(this));
    const ofKey = used((shares) => shares.ofKey(holder));
    if (ofKey > 0 && ofKey + bytes > keyBytesMax) return "key";
    if (used((shares) => shares.ofApp(holder)) + bytes > appBytesMax) return "app";
    return used((shares) => shares.bytes) + bytes > bytesMax ? "all" : null;
  }

  ofKey(holder: QuotaOwner): number {
    return this.#keys.get(keyOf(holder)) ?? 0;
  }

  ofApp({ appId }: Pick<QuotaOwner, "appId">): number {
    return this.#apps.get(appId) ?? 0;
  }

  take(holder: QuotaOwner, bytes: number): void {
    this.#change(holder, bytes);
  }

  give(holder: QuotaOwner, bytes: number): void {
    this.#change(holder, -bytes);
  }

  #change(holder: QuotaOwner, bytes: number): void {
    this.bytes += bytes;
    change(this.#apps, holder.appId, bytes);
    change(this.#keys, keyOf(holder), bytes);
  }
}

function change(shares: Map<string, number>, name: string, bytes: number): void {
  const changed = (shares.get(name) ?? 0) + bytes;
  if (changed === 0) shares.delete(name);
  else shares.set(name, changed);
}

function keyOf({ appId, keyId }: QuotaOwner): string {
  return `${appId}\0${keyId}`;
}
