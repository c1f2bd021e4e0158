import { Buffer } from "node:buffer";
import { join } from "node:path";
import { DAMAGED_SUFFIX, type Damage, saveDamage } from "../../directory/damaged-files.ts";
import { removeTemporaryFiles } from "../../directory/temporary-files.ts";
import { assert } from "../../lib/assert.ts";
import type { QuotaOwner } from "../../lib/schedule/shared-pool.ts";
import type { AppId } from "../../model/ids.ts";
import {
  type Arrival,
  ENTRY_IDS_MAX,
  type MessageReference,
  type QuarantineEntry,
  type RefusedArrivals,
  type RefusedPiece,
} from "../../model/quarantine-entry.ts";
import { type Files, ignoreFileError, readIfThere } from "../../runtime/files.ts";
import { EntryIndex, type IndexedEntry } from "./entry-index.ts";
import {
  decodeMessageHead,
  type FoundMessage,
  isInQuarantine,
  type MessageHead,
  messageFileName,
  readMessageHeads,
} from "./message-file.ts";
import { MessageFiles } from "./message-files.ts";
import { chargedBytes, DEFAULT_SHARES, holderOf, type ShareBounds, Shares } from "./shares.ts";

/*
 * The messages of the quarantine: an index in memory, and a file for each message. They change only by entries of the
 * log, so replay and live traffic, and all nodes, build the same.
 */

export interface MessageStoreOptions {
  readonly files: Files;
  readonly directory: string;
  readonly damagedDirectory: string;
  /** The archive has what entries of the log up to this one amount to, so their files are synced. */
  readonly coveredSequence: number;
  /** Defaults to the documented shares. */
  readonly shares?: ShareBounds;
}

/** What the entries up to `sequence` amount to, besides the files of messages. */
export interface QuarantineSnapshot {
  readonly sequence: number;
  readonly entries: readonly QuarantineEntry[];
}

/** Nodes whose messages may be incomplete at the same time, each with up to 16 MiB in memory. */
const INCOMPLETE_MAX = 8;

export class MessageStore {
  readonly index = new EntryIndex();
  /** What the messages take. */
  readonly shares: Shares;
  /** What deleted messages take of the log, until a seal covers them. */
  readonly logShares: Shares;
  readonly files: MessageFiles;
  #deleted: DeletedMessage[] = [];
  /** Messages of which pieces are missing, by source. */
  readonly #incomplete = new Map<string, RefusedPiece[]>();
  /** Entries that came more than once. */
  readonly #repeated = new Set<IndexedEntry>();
  #sequence = 0;
  #coveredSequence: number;
  #isRestored = false;

  constructor({ files, directory, coveredSequence, shares = DEFAULT_SHARES }: MessageStoreOptions) {
    this.files = new MessageFiles(files, directory);
    this.shares = new Shares(shares);
    this.logShares = new Shares(shares);
    this.#coveredSequence = coveredSequence;
  }

  /** The last entry of the log that changed anything here; or the last that the archive covers. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Adds the message of a file, at the start. The replay confirms it if the archive does not cover it. */
  addFound({ name, sequence, id }: FoundMessage, head: MessageHead): void {
    const former = this.index.find(head.appId, id);
    if (former !== null) this.#remove(former); // A start was interrupted while it wrote the file anew.
    this.#add(head, id, name, sequence, sequence <= this.#coveredSequence);
  }

  /** Puts an entry of the archive back, before any entry of the log. */
  restore(entry: QuarantineEntry): void {
    if (!this.#isRestored) this.#change(entry, 0);
  }

  /** Ends the restoring: entries up to this one are in here. */
  endRestore(sequence: number): void {
    if (!this.#isRestored) this.#sequence = sequence;
    this.#isRestored = true;
  }

  /** Applies an entry of the log, unless it was applied before. */
  apply(entry: QuarantineEntry, sequence: number): void {
    assert(this.#isRestored, "the archive's entries come before the log's");
    if (sequence <= this.#sequence) return;
    this.#sequence = sequence;
    this.#change(entry, sequence);
  }

  /** Taken in one turn with the sequence that memory has reached, so that nothing is in both file and log. */
  snapshot(): QuarantineSnapshot {
    const arrivals = [...Map.groupBy(this.#repeated, ({ appId }) => appId)].flatMap(arrivalsOf);
    return { sequence: this.#sequence, entries: [...arrivals, ...[...this.#incomplete.values()].flat()] };
  }

  /** The archive covers the log up to this entry, and the log may drop it. */
  noteCovered(sequence: number): void {
    this.#coveredSequence = sequence;
    for (const { holder, bytes, sequence: from } of this.#deleted)
      if (from <= sequence) this.logShares.give(holder, bytes);
    this.#deleted = this.#deleted.filter(({ sequence: from }) => from > sequence);
  }

  #change(entry: QuarantineEntry, sequence: number): void {
    switch (entry.kind) {
      case "refused_piece":
        this.#addPiece(entry, sequence);
        break;
      case "refused_deletion":
        for (const message of entry.messages) this.#delete(entry.appId, message);
        break;
      case "refused_arrivals":
        for (const arrival of entry.arrivals) this.#count(this.index.find(entry.appId, arrival.id), arrival);
    }
  }

  #addPiece(piece: RefusedPiece, sequence: number): void {
    const { source, number, start, totalBytes, bytes } = piece;
    if (start === 0) {
      this.#incomplete.delete(source); // It was given up.
      if (this.#incomplete.size >= INCOMPLETE_MAX) this.#incomplete.delete(first(this.#incomplete.keys()));
      this.#incomplete.set(source, []);
    }
    const pieces = this.#incomplete.get(source) ?? [];
    const known = pieces.at(-1);
    const isNext = start === 0 || (known?.number === number && known.start + known.bytes.length === start);
    if (!isNext) return; // Its beginning was given up.
    pieces.push(piece);
    if (start + bytes.length < totalBytes) return;
    this.#incomplete.delete(source);
    const content = pieces.length === 1 ? bytes : Buffer.concat(pieces.map((each) => each.bytes));
    this.#put(piece.id, content, sequence);
  }

  #put(id: string, content: Uint8Array, sequence: number): void {
    const head = decodeMessageHead(content);
    if (head === null) return;
    const known = this.index.find(head.appId, id);
    if (known?.isConfirmed === true) {
      this.#count(known, { id, count: 1, lastArrivedMs: head.arrivedMs }); // Two nodes sent it at once.
      return;
    }
    const name = messageFileName(sequence, id);
    if (known !== null) this.#forget(known);
    if (known !== null && known.name !== name) this.files.remove(known.name);
    this.#add(head, id, name, sequence, true);
    this.files.write(name, content);
  }

  #add(head: MessageHead, id: string, name: string, sequence: number, isConfirmed: boolean): void {
    const { fileBytes, ...told } = head;
    const bytes = chargedBytes(fileBytes);
    const arrivals = { lastArrivedMs: head.arrivedMs, count: 1 };
    this.index.add({ ...told, ...arrivals, id, bytes, name, sequence, isConfirmed });
    this.shares.take(holderOf(head), bytes);
  }

  #delete(appId: AppId, { id, sequence: deleted }: MessageReference): void {
    const entry = this.index.find(appId, id);
    // A process that ended may have removed the file, but not for good: a power failure would bring it back.
    const name = messageFileName(deleted, id);
    if (entry?.name !== name) this.files.remove(name);
    if (entry === null) return;
    this.#remove(entry);
    const { bytes, sequence } = entry;
    if (sequence <= this.#coveredSequence) return;
    // Messages of a broker's topic give way to newer ones, which must not have to wait for a seal.
    const holder = entry.topic === null ? holderOf(entry) : { appId, keyId: "" };
    this.logShares.take(holder, bytes);
    this.#deleted.push({ holder, bytes, sequence });
  }

  #remove(entry: IndexedEntry): void {
    this.#forget(entry);
    this.files.remove(entry.name);
  }

  #forget(entry: IndexedEntry): void {
    this.index.delete(entry);
    this.#repeated.delete(entry);
    this.shares.give(holderOf(entry), entry.bytes);
  }

  #count(entry: IndexedEntry | null, { count, lastArrivedMs }: Arrival): void {
    if (entry === null) return;
    entry.count += count;
    entry.lastArrivedMs = Math.max(entry.lastArrivedMs, lastArrivedMs);
    this.#repeated.add(entry);
  }
}

interface DeletedMessage {
  readonly holder: QuotaOwner;
  readonly bytes: number;
  /** The entry of the log that has it. */
  readonly sequence: number;
}

function arrivalsOf([appId, entries]: readonly [AppId, readonly IndexedEntry[]]): RefusedArrivals[] {
  const all: RefusedArrivals[] = [];
  for (let start = 0; start < entries.length; start += ENTRY_IDS_MAX) {
    const some = entries.slice(start, start + ENTRY_IDS_MAX);
    const arrivals = some.map(({ id, count, lastArrivedMs }) => ({ id, count: count - 1, lastArrivedMs }));
    all.push({ kind: "refused_arrivals", appId, arrivals });
  }
  return all;
}

function first<Item>(items: Iterator<Item>): Item {
  return items.next().value;
}

export interface OpenedMessages {
  readonly messages: MessageStore;
  readonly damage: readonly Damage[];
}

/**
 * Reads the heads of all files. A damaged one is moved aside; one that the archive does not cover may be the rest of an
 * interrupted write, which the log writes anew. Throws a `FormatVersionError`, before anything is changed, if a program
 * of another version wrote one of them. A full disk must not prevent a start.
 */
export async function openMessages(options: MessageStoreOptions): Promise<OpenedMessages> {
  const { files, directory, coveredSequence } = options;
  const messages = new MessageStore(options);
  const damage: Damage[] = [];
  for (const file of await readMessageHeads(files, directory)) {
    if (file.head !== null) messages.addFound(file, file.head);
    else if (file.isRemoved || file.sequence > coveredSequence) messages.files.remove(file.name);
    else damage.push(await moveAside(options, join(directory, file.name)));
  }
  await removeTemporaryFiles(files, directory, isInQuarantine);
  return { messages, damage };
}

async function moveAside({ files, damagedDirectory }: MessageStoreOptions, path: string): Promise<Damage> {
  const range = { file: path, offset: 0, isWritten: true } as const;
  try {
    const bytes = await readIfThere(files, path);
    if (bytes === null) return { ...range, bytes: 0, savedAs: null };
    const savedAs = await saveDamage(files, damagedDirectory, path, 0, bytes, DAMAGED_SUFFIX);
    await files.remove(path);
    return { ...range, bytes: bytes.length, savedAs };
  } catch (error) {
    ignoreFileError(error);
    return { ...range, bytes: 0, savedAs: null };
  }
}
