import { join } from "node:path";
import { crc32 } from "node:zlib";
import { FileError, type Files, isPassing } from "../../runtime/files.ts";
import type { BackupDirectory } from "./directory.ts";
import { type Backup, type BackupFile, describeFile, sameFile } from "./file.ts";
import { findFault, MISSING, readSource, type WantedFile } from "./source.ts";

/**
 * Copies files to a backup's directory one after another, except for those that it has. Existing copies are read too,
 * so one that rotted is replaced now instead of being discovered during a restore.
 */
export interface BackupFiles {
  /** Starts over; what was written stays known. Problems of files are appended to `problems`. */
  begin(problems: string[]): void;
  /** Copies a file that never changes any more, by a link if possible; returns its size in bytes. */
  bring(wanted: WantedFile): Promise<number>;
  put(file: string, bytes: Uint8Array): Promise<void>;
  /** Retains the backup's file of this name even if it is damaged, because it is the only copy. */
  keep(file: string): Promise<void>;
  brought(): { files: BackupFile[]; copied: BackupFile[]; linked: BackupFile[] };
}

export interface BackupFilesOptions {
  readonly files: Files;
  readonly dataDir: string;
  readonly target: BackupDirectory;
  /** The present backup in the directory, or null. */
  readonly former: Backup | null;
}

export function createBackupFiles({ files, dataDir, target, former }: BackupFilesOptions): BackupFiles {
  const formerCopies = createFormerCopies(target, former);
  const copied = new Map<string, BackupFile>();
  const linked = new Map<string, BackupFile>();
  let all = new Map<string, BackupFile>();
  let problems: string[] = [];

  /** Whether the backup has this file intact. A copy that was just written replaces an older one. */
  async function has(wanted: BackupFile): Promise<boolean> {
    const written = copied.get(wanted.file) ?? linked.get(wanted.file);
    if (written !== undefined) return sameFile(written, wanted);
    return formerCopies.has(wanted);
  }

  async function add(file: string, bytes: Uint8Array, linkFrom: string | null): Promise<void> {
    const copy = describeFile(file, bytes);
    all.set(file, copy);
    if (await has(copy)) return;
    copied.delete(file);
    linked.delete(file);
    const isLinked = linkFrom !== null && (await target.link(file, linkFrom));
    if (!isLinked) await target.write(file, bytes);
    (isLinked ? linked : copied).set(file, copy);
  }

  async function keep(file: string): Promise<void> {
    const written = copied.get(file) ?? linked.get(file);
    if (written !== undefined) {
      all.set(file, written); // It was written before the restart, and replaces the former backup's copy.
      return;
    }
    const copy = await formerCopies.describe(file);
    if (copy === null) return;
    if (!formerCopies.isAsNamed(copy)) problems.push(`${file}: the backup's copy is damaged too`);
    all.set(file, copy);
  }

  return {
    begin(into) {
      problems = into;
      all = new Map();
    },
    keep,
    put: (file, bytes) => add(file, bytes, null),
    async bring({ file, expected }) {
      const path = join(dataDir, file);
      const wanted = expected === null ? null : { file, bytes: expected.bytes, crc: expected.crc };
      if (wanted !== null && (await has(wanted))) {
        all.set(file, wanted);
        const fault = await findFault(files, path, wanted.bytes);
        if (fault !== null) problems.push(`${file}: ${fault}; the backup has it`);
        return wanted.bytes;
      }
      const bytes = await readSource(files, path);
      if (typeof bytes === "string") {
        if (bytes === MISSING && expected === null) return 0; // It was removed after it was listed.
        problems.push(`${file}: ${bytes}`);
        await keep(file);
        return 0;
      }
      if (wanted !== null && bytes.length !== wanted.bytes)
        problems.push(`${file}: it has ${bytes.length} bytes instead of ${wanted.bytes}`);
      else if (wanted !== null && crc32(bytes) !== wanted.crc)
        problems.push(`${file}: its bytes are not those written`);
      await add(file, bytes, expected === null ? null : path);
      return bytes.length;
    },
    brought: () => ({
      files: [...all.values()],
      copied: [...copied.values()].filter(isNamed),
      linked: [...linked.values()].filter(isNamed),
    }),
  };

  function isNamed({ file }: BackupFile): boolean {
    return all.has(file);
  }
}

/** The copies that the former backup left. Each is read once, although a seal may restart the backup. */
interface FormerCopies {
  /** Describes the copy by its present bytes; null if there is none. */
  describe(file: string): Promise<BackupFile | null>;
  /** Whether the copy is as wanted; false if it can't be read. */
  has(wanted: BackupFile): Promise<boolean>;
  /** Whether a copy is still what the former backup named. */
  isAsNamed(copy: BackupFile): boolean;
}

function createFormerCopies(target: BackupDirectory, former: Backup | null): FormerCopies {
  const named = new Map(former?.files.map((file) => [file.file, file]));
  const inPlace = new Map<string, BackupFile | null>();

  async function describe(file: string): Promise<BackupFile | null> {
    if (!named.has(file)) return null;
    const read = inPlace.get(file);
    if (read !== undefined) return read;
    const copy = await target.describe(file);
    inPlace.set(file, copy);
    return copy;
  }

  return {
    describe,
    async has(wanted) {
      const before = named.get(wanted.file);
      if (before === undefined || !sameFile(before, wanted)) return false;
      try {
        const copy = await describe(wanted.file);
        return copy !== null && sameFile(copy, wanted);
      } catch (error) {
        if (!(error instanceof FileError) || isPassing(error)) throw error;
        return false; // The file is copied again.
      }
    },
    isAsNamed: (copy) => sameFile(copy, named.get(copy.file)!),
  };
}
