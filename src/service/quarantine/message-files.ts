import { join } from "node:path";
import { type FileError, type Files, ignoreFileError, readIfThere } from "../../runtime/files.ts";
import { REMOVED_FILE } from "./message-file.ts";

/** Files that are synced at the same time. */
const SYNCS_MAX = 16;

/**
 * Writes and removes files behind the log, in the order of the calls: whatever the disk refuses stays in memory and is
 * tried again. The shares of the quarantine bound how much that is. Only `sync()` makes it durable.
 */
export class MessageFiles {
  /** The first failure since the last change that went well; null if the disk has all changes. */
  failure: FileError | null = null;
  readonly #files: Files;
  readonly #directory: string;
  /** The content of files that are not written yet; null for those that are not removed yet. */
  readonly #pending = new Map<string, Uint8Array | null>();
  /** Changes that a power failure may undo. */
  readonly #unsynced = new Map<string, Change>();
  /** Whether a sync has failed: then a second one may succeed without doing anything, so changes are repeated. */
  #mustRepeat = false;
  #work: Promise<void> = Promise.resolve();

  constructor(files: Files, directory: string) {
    this.#files = files;
    this.#directory = directory;
  }

  write(name: string, content: Uint8Array): void {
    this.#change(name, content);
  }

  remove(name: string): void {
    this.#change(name, null);
  }

  /** Null if the file is missing. Throws a `FileError`. */
  read(name: string): Promise<Uint8Array | null> {
    const pending = this.#pending.get(name);
    return pending === undefined
      ? readIfThere(this.#files, join(this.#directory, name))
      : Promise.resolve(pending);
  }

  /** Resolves once all changes were tried, with the failure if there was one. */
  async settle(): Promise<FileError | null> {
    await this.#inTurn(() => this.#makeChanges());
    return this.failure;
  }

  /**
   * Replaces a file beside the messages in one step, and syncs like `sync()`. A sync of its own would hide a failure,
   * which concerns all changes in the directory.
   */
  replace(name: string, content: Uint8Array): Promise<void> {
    return this.#inTurn(async () => {
      await this.#files.makeDirectory(this.#directory);
      await this.#replace(join(this.#directory, name), content);
      this.#unsynced.set(name, "written");
      await this.#sync();
    });
  }

  /** All earlier changes are on the disk when it resolves. Throws a `FileError`; the next call does what is left. */
  sync(): Promise<void> {
    return this.#inTurn(() => this.#sync());
  }

  #change(name: string, content: Uint8Array | null): void {
    this.#pending.delete(name); // So that it comes last.
    this.#pending.set(name, content);
    if (this.#pending.size === 1 || this.failure !== null) void this.settle();
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => undefined); // The caller gets the error.
    return done;
  }

  async #makeChanges(): Promise<void> {
    this.failure = null;
    for (let next = first(this.#pending); next !== null; next = first(this.#pending)) {
      const [name, content] = next;
      let change: Change;
      try {
        change = await this.#put(join(this.#directory, name), content);
      } catch (error) {
        ignoreFileError(error);
        this.failure = error as FileError;
        return;
      }
      this.#unsynced.set(name, change);
      if (this.#pending.get(name) === content) this.#pending.delete(name);
    }
  }

  async #put(path: string, content: Uint8Array | null): Promise<Change> {
    if (content === null && !(await this.#files.exists(path))) return "missing";
    await this.#files.removeAll(path); // A failed attempt, or a crash, may have left a part of it.
    if (content === null) return "removed";
    await this.#files.makeDirectory(this.#directory);
    const file = await this.#files.openAppend(path);
    try {
      await file.append([content]);
    } finally {
      await file.close();
    }
    return "written";
  }

  async #sync(): Promise<void> {
    await this.#makeChanges();
    if (this.failure !== null) throw this.failure;
    const changes = [...this.#unsynced];
    if (changes.length === 0) return;
    const mustRepeat = this.#mustRepeat;
    this.#mustRepeat = true;
    await this.#files.makeDirectory(this.#directory);
    for (let start = 0; start < changes.length; start += SYNCS_MAX) {
      const some = changes.slice(start, start + SYNCS_MAX);
      const outcomes = await Promise.allSettled(
        some.map(([name, change]) => {
          const path = join(this.#directory, name);
          if (mustRepeat || change === "missing") return this.#repeat(path, change);
          return change === "written" ? this.#syncFile(path) : undefined;
        }),
      );
      // Only now, so that none of them runs beside later changes.
      for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
    }
    await this.#files.syncDirectory(this.#directory);
    this.#mustRepeat = false;
    this.#unsynced.clear();
  }

  async #syncFile(path: string): Promise<void> {
    const file = await this.#files.openAppend(path);
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  }

  async #repeat(path: string, change: Change): Promise<void> {
    const isWritten = change === "written";
    const bytes = isWritten ? await readIfThere(this.#files, path) : REMOVED_FILE;
    if (bytes !== null) await this.#replace(path, bytes);
    if (!isWritten) await this.#files.remove(path);
  }

  /**
   * Unlike `Files.replace()`, leaves the sync of the directory to the caller: `Files.replace()` hides a failed sync by
   * repeating it with its own change, but the failure concerns all changes in the directory.
   */
  async #replace(path: string, bytes: Uint8Array): Promise<void> {
    const temporary = `${path}.tmp`;
    await this.#files.removeAll(temporary);
    const file = await this.#files.openAppend(temporary);
    try {
      await file.append([bytes]);
      await file.sync();
    } finally {
      await file.close();
    }
    await this.#files.rename(temporary, path);
  }
}

/**
 * A file that was `missing` when it was to be removed may have been removed by an earlier process whose sync failed, or
 * that did not get to it.
 */
type Change = "written" | "removed" | "missing";

function first<Key, Value>(map: ReadonlyMap<Key, Value>): readonly [Key, Value] | null {
  return map.entries().next().value ?? null;
}
