import { relative, resolve, sep } from "node:path";
import { ok, type Result } from "../../lib/result.ts";
import type { BackupCommand, RestoreCommand, UsageError } from "./command.ts";
import { type Flags, usage } from "./flags.ts";

export function parseBackup(flags: Flags, dataDir: string): Result<BackupCommand, UsageError> {
  const directory = parseDirectory(flags, "backup");
  if (!directory.ok) return directory;
  if (overlap(directory.value, dataDir))
    return usage(`The backup "${directory.value}" and the data directory "${dataDir}" must lie apart`);
  return ok({ kind: "backup", dataDir, directory: directory.value, json: flags.has("json") });
}

export function parseRestore(flags: Flags, dataDir: string): Result<RestoreCommand, UsageError> {
  const directory = parseDirectory(flags, "restore");
  if (!directory.ok) return directory;
  if (overlap(directory.value, dataDir))
    return usage(`The backup "${directory.value}" and the new data directory "${dataDir}" must lie apart`);
  return ok({ kind: "restore", dataDir, directory: directory.value, json: flags.has("json") });
}

function parseDirectory({ positionals }: Flags, command: string): Result<string, UsageError> {
  const [directory, more] = positionals;
  if (directory === undefined || directory === "")
    return usage(`${command} needs the directory of the backup`);
  if (more !== undefined) return usage(`${command} takes one directory, and "${more}" is one more`);
  return ok(directory);
}

/** Whether one directory is the other, or lies in it. */
function overlap(a: string, b: string): boolean {
  return isWithin(a, b) || isWithin(b, a);
}

function isWithin(inner: string, outer: string): boolean {
  const path = relative(resolve(outer), resolve(inner));
  return path !== ".." && !path.startsWith(`..${sep}`);
}
