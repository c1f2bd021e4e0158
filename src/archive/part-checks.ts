import { crc32 } from "node:zlib";
import { FileError, type Files, isOutOfDescriptors } from "../runtime/files.ts";
import type { Part } from "./files/manifest.ts";

/** What is wrong with a part, for people. */
export type PartFault = string;

/**
 * What is known of the files of an archive's parts: which are damaged, and which were found to be as they were written.
 */
export interface PartChecks {
  /** Parts that can't be read, by file. */
  readonly damaged: ReadonlyMap<string, PartFault>;
  /** How often parts were found to be damaged, or not to be any more. */
  readonly changes: number;
  /**
   * Looks at these parts again; resolves with whether any is damaged that was not known to be. A glance sees what
   * is missing or of another size; `thorough` reads every byte.
   */
  examine(parts: readonly Part[], thorough?: boolean): Promise<boolean>;
  /**
   * Reads each part once in the life of the process, and resolves with whether all are as they were written: DuckDB
   * itself reads most flipped bits without a word.
   */
  verifyChecksums(parts: readonly Part[]): Promise<boolean>;
  /** The part's file goes. */
  forget(part: Part): void;
  /** Damage of files that the archive does not name is none any more. */
  forgetUnnamed(): void;
}

export interface PartChecksOptions {
  readonly files: Files;
  pathOf(part: Part): string;
  /** Whether the archive has this file now. */
  isNamed(file: string): boolean;
  /** Somebody put a damaged file back. */
  onRestored(): void;
}

export function createPartChecks({ files, pathOf, isNamed, onRestored }: PartChecksOptions): PartChecks {
  const damaged = new Map<string, PartFault>();
  const verified = new Set<string>();
  let changes = 0;

  function setDamaged(file: string, fault: PartFault): void {
    if (!damaged.has(file)) changes++;
    damaged.set(file, fault);
  }

  /** Returns whether it was damaged. */
  function mend(file: string): boolean {
    const wasDamaged = damaged.delete(file);
    if (wasDamaged) changes++;
    return wasDamaged;
  }

  async function examine(parts: readonly Part[], thorough = false): Promise<boolean> {
    let foundNew = false;
    for (const part of parts) {
      const fault = await faultOf(files, pathOf(part), part, thorough);
      if (fault !== null) {
        if (!isNamed(part.file)) continue; // A seal has taken its place meanwhile.
        foundNew ||= !damaged.has(part.file);
        setDamaged(part.file, fault);
        verified.delete(part.file);
        continue;
      }
      if (thorough) verified.add(part.file);
      if (mend(part.file)) onRestored();
    }
    return foundNew;
  }

  return {
    damaged,
    get changes() {
      return changes;
    },
    examine,
    async verifyChecksums(parts) {
      await examine(
        parts.filter(({ file }) => !verified.has(file)),
        true,
      );
      return parts.every(({ file }) => verified.has(file));
    },
    forget({ file }) {
      mend(file);
      verified.delete(file);
    },
    forgetUnnamed() {
      for (const file of damaged.keys()) if (!isNamed(file)) mend(file);
    },
  };
}

/** What tells that a file is not what was written. Without a file descriptor nothing is known of it: that is thrown. */
export async function faultOf(
  files: Files,
  path: string,
  part: Part,
  thorough: boolean,
): Promise<PartFault | null> {
  try {
    const bytes = await files.size(path);
    if (bytes !== part.bytes) return `it has ${bytes} bytes instead of ${part.bytes}`;
    return thorough && crc32(await files.read(path)) !== part.crc ? "its bytes are not those written" : null;
  } catch (error) {
    if (!(error instanceof FileError) || isOutOfDescriptors(error)) throw error;
    return error.code === "ENOENT" ? "it is missing" : error.message;
  }
}
