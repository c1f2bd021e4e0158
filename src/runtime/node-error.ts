import { stat } from "node:fs/promises";
import { constants } from "node:os";
import { dirname } from "node:path";
import { FileError } from "./files.ts";

/** A failure of `node:fs` or of SQLite in our words; where somebody else's file is in the way, it says whose. */
export async function fileErrorOf(operation: string, path: string, cause: unknown): Promise<FileError> {
  const code = codeOf(cause);
  const isForbidden = code === "EACCES" || code === "EPERM" || /unable to open database/.test(String(cause));
  return new FileError(operation, path, code, cause, isForbidden ? await ownerAdvice(path) : null);
}

/**
 * Deno names only the commoner of the system's errors, and says the number of the others: a file size limit's, a
 * quota's.
 */
export function codeOf(cause: unknown): string {
  if (cause instanceof Error && "code" in cause) return String(cause.code);
  const number = /\(os error (\d+)\)/.exec(String(cause))?.[1];
  const named = Object.entries(constants.errno).find(([, value]) => value === Number(number));
  return named?.[0] ?? String(cause);
}

/** Who may use the path, or the closest directory above it that can be looked up; null where that can't be told. */
async function ownerAdvice(path: string): Promise<string | null> {
  const found = await stat(path).catch(() => null);
  if (found === null) return dirname(path) === path ? null : ownerAdvice(dirname(path));
  return adviceFor(path, found.uid);
}

export function adviceFor(path: string, uid: number): string {
  if (uid === 0) return `"${path}" belongs to root: run this as root (sudo COMMAND)`;
  return `"${path}" belongs to user ${uid}: run this as that user (sudo -u '#${uid}' COMMAND) or as root`;
}
