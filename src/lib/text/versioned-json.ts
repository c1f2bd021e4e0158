import { isObject } from "../is-object.ts";
import { fail, ok, type Result } from "../result.ts";
import { parseJson } from "./long-json.ts";
import { decodeUtf8 } from "./long-text.ts";

const NEWER = "newer program";

/** A program with another version of a format wrote the file or message, which is not changed. */
export class FormatVersionError extends Error {
  override readonly name = "FormatVersionError";

  constructor(what: string, path: string, expected: string, actual: string, writer = NEWER) {
    super(`Cannot open ${what} "${path}": expected ${expected}, found ${actual}. A ${writer} wrote it.`);
  }

  /** For a version other than the expected one. */
  static of(what: string, path: string, expected: number, actual: number): FormatVersionError {
    const writer = writerOf(expected, actual);
    return new FormatVersionError(what, path, `format version ${expected}`, `${actual}`, writer);
  }

  /** For an entry of an unknown kind; kinds up to `newestKind` were used. */
  static ofKind(what: string, path: string, newestKind: number, kind: number): FormatVersionError {
    const writer = writerOf(newestKind, kind);
    return new FormatVersionError(what, path, "known kinds of entries", `kind ${kind}`, writer);
  }
}

/** The kind of program that wrote another version. No release wrote an older one. */
function writerOf(expected: number, actual: number): string {
  return actual > expected ? NEWER : "program from before the first release";
}

/** The JSON object of a file in this version of its format, or what is wrong with it. */
export function parseVersionedJson(
  bytes: Uint8Array,
  expected: number,
): Result<Readonly<Record<string, unknown>>, string> {
  const object = parseObject(bytes);
  if (object === null) return fail("it is not a JSON object");
  const version = versionOf(object);
  if (version === null) return fail("its format version is missing");
  if (version === expected) return ok(object);
  const writer = writerOf(expected, version);
  return fail(`it has format version ${version} of a ${writer}, and this program reads version ${expected}`);
}

/** Whether the file is a JSON object in another version of its format. */
export function isOtherVersion(bytes: Uint8Array, expected: number): boolean {
  const object = parseObject(bytes);
  const version = object === null ? null : versionOf(object);
  return version !== null && version !== expected;
}

function parseObject(bytes: Uint8Array): Readonly<Record<string, unknown>> | null {
  const text = decodeUtf8(bytes);
  const object = text === null ? null : parseJson(text);
  return isObject(object) ? object : null;
}

/** The members of a JSON object; null if the text is none. */
export function parseMembers(text: string): Record<string, unknown> | null {
  const members = parseJson(text);
  return isObject(members) ? members : null;
}

/** Throws a `FormatVersionError`, which names `path`, if `what` has a member that a newer version added. */
export function refuseStrangers(what: string, path: string, members: object, known: readonly string[]): void {
  const stranger = Object.keys(members).find((name) => !known.includes(name));
  if (stranger !== undefined)
    throw new FormatVersionError(what, path, "known members", `member "${stranger}"`);
}

function versionOf({ version }: Readonly<Record<string, unknown>>): number | null {
  return typeof version === "number" && Number.isInteger(version) && version >= 1 ? version : null;
}
