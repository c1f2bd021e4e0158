import { FileError, isPassing } from "../../runtime/files.ts";
import type { BackupDirectory } from "./directory.ts";
import { type Backup, type BackupFile, sameFile } from "./file.ts";

/**
 * The copies that the former backup left, as they are by now. Each is read once, though a seal may make us start over.
 */
export interface FormerCopies {
  /** What the former backup's copy is by now; null where it has none. */
  describe(file: string): Promise<BackupFile | null>;
  /** Whether the copy is as wanted; one that can't be read is not. */
  has(wanted: BackupFile): Promise<boolean>;
  /** Whether a copy is still what the former backup named. */
  isAsNamed(copy: BackupFile): boolean;
}

export function createFormerCopies(target: BackupDirectory, former: Backup | null): FormerCopies {
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
        return false; // Another copy is as good.
      }
    },
    isAsNamed: (copy) => sameFile(copy, named.get(copy.file)!),
  };
}
