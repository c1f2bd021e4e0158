import { stat } from "node:fs/promises";
import { constants } from "node:os";
import { dirname } from "node:path";
import { FileError } from "./files.ts";

/** Converts a failure of `node:fs` or SQLite. If another user's file is in the way, the message names the user. */
export async function fileErrorOf(operation: string, path: string, cause: unknown): Promise<FileError> {
  const code = codeOf(cause);
  const isForbidden = code === "EACCES" || code === "EPERM" || /unable to open database/.test(String(cause));
  return new FileError(operation, path, code, cause, isForbidden ? await ownerAdvice(path) : null);
}

/** Deno gives only the number of the rarer system errors, such as those of a file size limit or a quota. */
export function codeOf(cause: unknown): string {
  if (cause instanceof Error && "code" in cause) return String(cause.code);
  const number = /\(os error (\d+)\)/.exec(String(cause))?.[1];
  const named = Object.entries(constants.errno).find(([, value]) => value === Number(number));
  return named?.[0] ?? String(cause);
}

/** Names the owner of the path, or of the closest existing directory above it; null if that is unknown. */
async function ownerAdvice(path: string): Promise<string | null> {
  const stats = await stat(path).catch(() => null);
  if (stats === null) return dirname(path) === path ? null : ownerAdvice(dirname(path));
  return adviceFor(path, stats.uid);
}

export function adviceFor(path: string, uid: number): string {
  if (uid === 0) return `"${path}" belongs to root: run this as root (sudo COMMAND)`;
  return `"${path}" belongs to user ${uid}: run this as that user (sudo -u '#${uid}' COMMAND) or as root`;
}
