import type { RefusedMessage } from "../../clients/refused-message.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { EntryIndex } from "./entry-index.ts";
import { type Arrival, bytesOf, type PreparedEntry } from "./put-queue.ts";
import type { IndexedEntry } from "./segment.ts";
import { type FullShare, holderOf, type Shares } from "./shares.ts";

/** What there is room for, and which of it is here already: room that is promised until it is given back. */
export interface Admission {
  /** Each once. */
  readonly fresh: readonly PreparedEntry[];
  readonly again: readonly Arrival[];
  release(): void;
}

/** Promises room in the shares to entries on their way to a stream, which will be kept whatever the shares say then. */
export class Admissions {
  readonly #index: EntryIndex;
  readonly #shares: Shares;
  readonly #promised: Shares;

  constructor(index: EntryIndex, shares: Shares) {
    this.#index = index;
    this.#shares = shares;
    this.#promised = shares.ofNobody();
  }

  /** Of one sender, whose share may be full. */
  admit(prepared: readonly PreparedEntry[], isHere: (id: string) => boolean): Result<Admission, FullShare> {
    const fresh = new Map<string, PreparedEntry>();
    const again: Arrival[] = [];
    for (const entry of prepared) {
      const { appId, arrivedMs } = entry.message;
      const isKnown = fresh.has(entry.id) || isHere(entry.id);
      if (isKnown) again.push({ appId, id: entry.id, count: 1, lastArrivedMs: arrivedMs });
      else fresh.set(entry.id, entry);
    }
    const entries = [...fresh.values()];
    const { message } = prepared[0]!;
    const holder = holderOf(message);
    const bytes = bytesOf(entries);
    const full = bytes === 0 ? null : this.#shares.findFull(holder, bytes, this.#promised);
    if (full !== null && findGivingWay(this.#index, this.#shares, message, full, 1).length === 0)
      return fail(full);
    this.#promised.take(holder, bytes);
    return ok({ fresh: entries, again, release: () => this.#promised.give(holder, bytes) });
  }
}

/** So much of a share gives way at once: a segment, which is written anew anyway. */
const DISPLACED_PARTS = 16;

/** The oldest entries that go for a message of a broker; none for any other. */
export function findGivingWay(
  index: EntryIndex,
  shares: Shares,
  { appId, topic }: RefusedMessage,
  full: FullShare,
  bytes: number,
): IndexedEntry[] {
  if (topic === null) return [];
  const mayGo = (entry: IndexedEntry) => (full === "key" ? entry.topic === topic : entry.topic !== null);
  // Where others fill the quarantine, they would take the room that is made beyond the need.
  const spare = full === "all" ? 0 : shares.keyBytesMax / DISPLACED_PARTS;
  return index.oldest(appId, mayGo, Math.max(bytes, spare));
}
