import { relative, resolve, sep } from "node:path";
import { fail, ok, type Result } from "../../lib/result.ts";
import { oneArgument } from "../arguments/positionals.ts";
import type { ValuesOf } from "../commands.ts";

/*
 * The commands `backup` and `restore` as they are given.
 */

export interface BackupCommand extends ValuesOf<"backup"> {
  readonly kind: "backup";
  readonly dataDir: string;
  /** The backup's. */
  readonly directory: string;
}

export interface RestoreCommand extends ValuesOf<"restore"> {
  readonly kind: "restore";
  readonly dataDir: string;
  /** The backup's. */
  readonly directory: string;
}

const THE_BACKUP = { needs: "the directory of the backup", takes: "one directory" };

export function parseBackup(
  values: ValuesOf<"backup">,
  dataDir: string,
  positionals: readonly string[],
): Result<BackupCommand, string> {
  const directory = oneArgument(positionals, "backup", THE_BACKUP);
  if (!directory.ok) return directory;
  if (overlap(directory.value, dataDir))
    return fail(`The backup "${directory.value}" and the data directory "${dataDir}" must lie apart`);
  return ok({ kind: "backup", dataDir, directory: directory.value, ...values });
}

export function parseRestore(
  values: ValuesOf<"restore">,
  dataDir: string,
  positionals: readonly string[],
): Result<RestoreCommand, string> {
  const directory = oneArgument(positionals, "restore", THE_BACKUP);
  if (!directory.ok) return directory;
  if (overlap(directory.value, dataDir))
    return fail(`The backup "${directory.value}" and the new data directory "${dataDir}" must lie apart`);
  return ok({ kind: "restore", dataDir, directory: directory.value, ...values });
}

/** Whether one directory is the other, or lies in it. */
function overlap(a: string, b: string): boolean {
  return isWithin(a, b) || isWithin(b, a);
}

function isWithin(inner: string, outer: string): boolean {
  const path = relative(resolve(outer), resolve(inner));
  return path !== ".." && !path.startsWith(`..${sep}`);
}
