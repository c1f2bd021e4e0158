/** The contents of a simulated file: what the program sees, and what is on the disk so far. */
export interface SimulatedInode {
  readonly size: number;
  /** A copy of what the program sees. */
  read(): Uint8Array;
  append(bytes: Uint8Array): void;
  /** Writes from the start on, over what is there. */
  overwrite(bytes: Uint8Array): void;
  truncate(sizeBytes: number): void;
  sync(): void;
  /** As Linux does it: what was not on disk is forgotten there, and a later sync doesn't bring it back. */
  failSync(): void;
  /** What a power loss leaves: with `random`, some of what was not synced; without, none of it. */
  survivor(random: (() => number) | null): Uint8Array;
}

/** Disks write whole sectors, in any order. */
const SECTOR_BYTES = 512;

type Change = { readonly at: number; readonly bytes: Uint8Array } | { readonly sizeBytes: number };

export function createSimulatedInode(contents: Uint8Array = new Uint8Array()): SimulatedInode {
  let seen = contents.slice();
  let durable = contents.slice();
  let unsynced: Change[] = [];

  function write(at: number, bytes: Uint8Array): void {
    const change = { at, bytes: new Uint8Array(bytes) }; // A Buffer's slice would be no copy.
    unsynced.push(change);
    seen = changed(seen, change);
  }

  return {
    get size() {
      return seen.length;
    },
    read: () => seen.slice(),
    append: (bytes) => write(seen.length, bytes),
    overwrite: (bytes) => write(0, bytes),
    truncate(sizeBytes) {
      unsynced.push({ sizeBytes });
      seen = changed(seen, { sizeBytes });
    },
    sync() {
      durable = unsynced.reduce(changed, durable);
      unsynced = [];
    },
    failSync() {
      unsynced = [];
    },
    survivor(random) {
      if (random === null) return durable.slice();
      const reordered = random() < 0.3;
      const whole = reordered ? unsynced.length : Math.floor(random() * (unsynced.length + 1));
      const kept = unsynced
        .slice(0, whole)
        .reduce(
          (contents, change) =>
            changed(contents, reordered ? withLostSectors(change, contents, random) : change),
          durable,
        );
      const torn = unsynced[whole];
      if (torn === undefined || !("bytes" in torn)) return kept.slice();
      const bytes = torn.bytes.slice(0, Math.floor(random() * (torn.bytes.length + 1)));
      return changed(kept, { at: torn.at, bytes });
    },
  };
}

function changed(contents: Uint8Array, change: Change): Uint8Array<ArrayBuffer> {
  const size =
    "bytes" in change ? Math.max(contents.length, change.at + change.bytes.length) : change.sizeBytes;
  const result = new Uint8Array(size);
  result.set(contents.subarray(0, size));
  if ("bytes" in change) result.set(change.bytes, change.at);
  return result;
}

/** The length reached the disk, some sectors did not: they hold what they held before, or nothing. */
function withLostSectors(change: Change, before: Uint8Array, random: () => number): Change {
  if (!("bytes" in change)) return change;
  const bytes = change.bytes.slice();
  for (let start = 0; start < bytes.length; ) {
    const end = Math.min(bytes.length, start + SECTOR_BYTES - ((change.at + start) % SECTOR_BYTES));
    if (random() < 0.5) {
      bytes.fill(0, start, end);
      bytes.set(before.subarray(change.at + start, change.at + end), start);
    }
    start = end;
  }
  return { at: change.at, bytes };
}
