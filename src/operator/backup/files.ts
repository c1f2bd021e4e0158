import { join } from "node:path";
import { crc32 } from "node:zlib";
import { FileError, type Files, isPassing } from "../../runtime/files.ts";
import type { BackupDirectory } from "./directory.ts";
import { type Backup, type BackupFile, describeFile, sameFile } from "./file.ts";
import { findFault, MISSING, readSource, type WantedFile } from "./source.ts";

/**
 * Brings one file after another to a backup's directory, but for those that it has. What it has is read too: a copy
 * that rotted since is brought again, rather than found out when it is needed.
 */
export interface BackupFiles {
  /** Starts over; what was written stays known. What is wrong with a file goes to `problems`. */
  begin(problems: string[]): void;
  /** Brings a file that is never written to again, by a link where that can be; returns its bytes. */
  bring(wanted: WantedFile): Promise<number>;
  /** Brings these bytes. */
  put(file: string, bytes: Uint8Array): Promise<void>;
  /** Keeps what the backup has under this name, be it damaged: there is no other. */
  keep(file: string): Promise<void>;
  brought(): { files: BackupFile[]; copied: BackupFile[]; linked: BackupFile[] };
}

export interface BackupFilesOptions {
  readonly files: Files;
  readonly dataDir: string;
  readonly target: BackupDirectory;
  /** The backup that the directory has already, or null. */
  readonly former: Backup | null;
}

export function createBackupFiles({ files, dataDir, target, former }: BackupFilesOptions): BackupFiles {
  const formerCopies = createFormerCopies(target, former);
  const copied = new Map<string, BackupFile>();
  const linked = new Map<string, BackupFile>();
  let all = new Map<string, BackupFile>();
  let problems: string[] = [];

  /** Whether the file is there as it should be: what was written now takes the place of what was there before. */
  async function has(wanted: BackupFile): Promise<boolean> {
    const written = copied.get(wanted.file) ?? linked.get(wanted.file);
    if (written !== undefined) return sameFile(written, wanted);
    return formerCopies.has(wanted);
  }

  async function take(file: string, bytes: Uint8Array, linkFrom: string | null): Promise<void> {
    const taken = describeFile(file, bytes);
    all.set(file, taken);
    if (await has(taken)) return;
    copied.delete(file);
    linked.delete(file);
    const isLinked = linkFrom !== null && (await target.link(file, linkFrom));
    if (!isLinked) await target.write(file, bytes);
    (isLinked ? linked : copied).set(file, taken);
  }

  async function keep(file: string): Promise<void> {
    const written = copied.get(file) ?? linked.get(file);
    if (written !== undefined) {
      all.set(file, written); // Before we started over: it takes the place of the former one.
      return;
    }
    const found = await formerCopies.describe(file);
    if (found === null) return;
    if (!formerCopies.isAsNamed(found)) problems.push(`${file}: the backup's copy is damaged too`);
    all.set(file, found);
  }

  return {
    begin(into) {
      problems = into;
      all = new Map();
    },
    keep,
    put: (file, bytes) => take(file, bytes, null),
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
        if (bytes === MISSING && expected === null) return 0; // Removed since it was listed.
        problems.push(`${file}: ${bytes}`);
        await keep(file);
        return 0;
      }
      if (wanted !== null && bytes.length !== wanted.bytes)
        problems.push(`${file}: it has ${bytes.length} bytes instead of ${wanted.bytes}`);
      else if (wanted !== null && crc32(bytes) !== wanted.crc)
        problems.push(`${file}: its bytes are not those written`);
      await take(file, bytes, expected === null ? null : path);
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

/** The copies that the former backup left, as they are now. Each is read once, though a seal may restart the backup. */
interface FormerCopies {
  /** What the former backup's copy is now; null if it has none. */
  describe(file: string): Promise<BackupFile | null>;
  /** Whether the copy is as wanted. A copy that can't be read is not. */
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
    const found = await target.describe(file);
    inPlace.set(file, found);
    return found;
  }

  return {
    describe,
    async has(wanted) {
      const before = named.get(wanted.file);
      if (before === undefined || !sameFile(before, wanted)) return false;
      try {
        const found = await describe(wanted.file);
        return found !== null && sameFile(found, wanted);
      } catch (error) {
        if (!(error instanceof FileError) || isPassing(error)) throw error;
        return false; // The file is copied again.
      }
    },
    isAsNamed: (copy) => sameFile(copy, named.get(copy.file)!),
  };
}
