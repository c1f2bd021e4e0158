/** The contents of a simulated file: those that the program sees, and those on the disk. */
export interface SimulatedInode {
  readonly size: number;
  /** Returns a copy of what the program sees. */
  read(): Uint8Array;
  append(bytes: Uint8Array): void;
  /** Overwrites from the start. */
  overwrite(bytes: Uint8Array): void;
  truncate(sizeBytes: number): void;
  sync(): void;
  /** Like Linux: unsynced data is lost, and a later sync doesn't write it. */
  failSync(): void;
  /** Returns the state after a power failure: with `random`, some unsynced data survives; without, none. */
  survivor(random: (() => number) | null): Uint8Array;
}

const SECTOR_BYTES = 512;

type Change = { readonly at: number; readonly bytes: Uint8Array } | { readonly sizeBytes: number };

export function createSimulatedInode(contents: Uint8Array = new Uint8Array()): SimulatedInode {
  let seen = contents.slice();
  let durable = contents.slice();
  let unsynced: Change[] = [];

  function write(at: number, bytes: Uint8Array): void {
    const change = { at, bytes: new Uint8Array(bytes) }; // A Buffer's slice would not be a copy.
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

/** The length is on the disk, but some sectors are not: they have their former content, or zeros. */
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
