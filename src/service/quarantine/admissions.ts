import type { RefusedMessage } from "../../clients/refused-message.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { EntryIndex } from "./entry-index.ts";
import { type Arrival, bytesOf, type PreparedEntry } from "./put-queue.ts";
import type { IndexedEntry } from "./segment.ts";
import { type FullShare, holderOf, type Shares } from "./shares.ts";

/** Admitted entries; their room in the shares stays reserved until it is released. */
export interface Admission {
  /** New entries, each once. */
  readonly fresh: readonly PreparedEntry[];
  readonly again: readonly Arrival[];
  release(): void;
}

/** Reserves room in the shares for entries on their way to a stream; such entries are stored even if shares fill up. */
export class Admissions {
  readonly #index: EntryIndex;
  readonly #shares: Shares;
  readonly #promised: Shares;

  constructor(index: EntryIndex, shares: Shares) {
    this.#index = index;
    this.#shares = shares;
    this.#promised = shares.ofNobody();
  }

  /** Admits entries of one sender, whose share may be full. */
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

/** The part of a share that is freed at once: a segment, which is rewritten anyway. */
const DISPLACED_PARTS = 16;

/** The oldest entries that are displaced by a broker's message; none for any other message. */
export function findGivingWay(
  index: EntryIndex,
  shares: Shares,
  { appId, topic }: RefusedMessage,
  full: FullShare,
  bytes: number,
): IndexedEntry[] {
  if (topic === null) return [];
  const mayGo = (entry: IndexedEntry) => (full === "key" ? entry.topic === topic : entry.topic !== null);
  // If the whole quarantine is full, others would take room that is freed beyond the need.
  const spare = full === "all" ? 0 : shares.keyBytesMax / DISPLACED_PARTS;
  return index.oldest(appId, mayGo, Math.max(bytes, spare));
}
