import type { ClientName } from "../../clients/client.ts";
import type { RefusalReason } from "../../clients/point.ts";
import type { AppId } from "../../model/ids.ts";
import type { EntrySummary } from "./entry.ts";

/** The part of an entry that is in memory. */
export interface IndexedEntry extends EntrySummary {
  lastArrivedMs: number;
  count: number;
  /** Its size as it counts in the shares. */
  readonly bytes: number;
  /** The name of its file. */
  readonly name: string;
  /** The entry of the log that brought it. */
  readonly sequence: number;
  /** False for a file from before the start that neither the archive covers nor the replay has met yet. */
  readonly isConfirmed: boolean;
}

/** Selects entries; null matches any. */
export interface EntryFilter {
  readonly client: ClientName | null;
  readonly reason: RefusalReason | null;
  readonly deviceId: string | null;
}

export interface EntryPage {
  readonly entries: readonly IndexedEntry[];
  /** All matching entries, not only those of the page. */
  readonly total: number;
}

/** Counts by client and reason. */
export interface KindCount {
  readonly client: ClientName;
  readonly reason: RefusalReason;
  entries: number;
}

/** All entries on the disk, by app in the order of their arrival. */
export class EntryIndex {
  size = 0;
  readonly #apps = new Map<AppId, Map<string, IndexedEntry>>();
  readonly #kinds = new Map<string, KindCount>();

  add(entry: IndexedEntry): void {
    let entries = this.#apps.get(entry.appId);
    if (entries === undefined) {
      entries = new Map();
      this.#apps.set(entry.appId, entries);
    }
    entries.set(entry.id, entry);
    this.size++;
    this.#kindOf(entry).entries++;
  }

  delete({ appId, id }: IndexedEntry): void {
    const entries = this.#apps.get(appId);
    const entry = entries?.get(id);
    if (entries === undefined || entry === undefined) return;
    entries.delete(id);
    if (entries.size === 0) this.#apps.delete(appId);
    this.size--;
    this.#kindOf(entry).entries--;
  }

  find(appId: AppId, id: string): IndexedEntry | null {
    return this.#apps.get(appId)?.get(id) ?? null;
  }

  apps(): readonly AppId[] {
    return [...this.#apps.keys()];
  }

  kinds(): readonly KindCount[] {
    return [...this.#kinds.values()];
  }

  entriesOf(appId: AppId): Iterable<IndexedEntry> {
    return this.#apps.get(appId)?.values() ?? [];
  }

  /** An app's entries, the newest first. There are ten thousand or so at most, which takes a millisecond. */
  list(appId: AppId, filter: EntryFilter, offset: number, limit: number): EntryPage {
    const matching = [...(this.#apps.get(appId)?.values() ?? [])].filter(matches(filter));
    return { entries: matching.reverse().slice(offset, offset + limit), total: matching.length };
  }

  /** An app's oldest entries that `mayGo` accepts, up to a sum of bytes. */
  oldest(appId: AppId, mayGo: (entry: IndexedEntry) => boolean, bytesWanted: number): IndexedEntry[] {
    const oldest: IndexedEntry[] = [];
    let bytes = 0;
    for (const entry of this.#apps.get(appId)?.values() ?? []) {
      if (bytes >= bytesWanted) break;
      if (!mayGo(entry)) continue;
      oldest.push(entry);
      bytes += entry.bytes;
    }
    return oldest;
  }

  #kindOf({ client, reason }: EntrySummary): KindCount {
    const name = `${client} ${reason}`;
    let kind = this.#kinds.get(name);
    if (kind === undefined) {
      kind = { client, reason, entries: 0 };
      this.#kinds.set(name, kind);
    }
    return kind;
  }
}

function matches({ client, reason, deviceId }: EntryFilter): (entry: EntrySummary) => boolean {
  return (entry) =>
    (client === null || entry.client === client) &&
    (reason === null || entry.reason === reason) &&
    (deviceId === null || entry.deviceId === deviceId);
}
