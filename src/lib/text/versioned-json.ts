import { isObject } from "../is-object.ts";
import { fail, ok, type Result } from "../result.ts";
import { parseJson } from "./long-json.ts";
import { decodeUtf8 } from "./long-text.ts";

const NEWER = "newer program";

/** A program that knows another version of a format wrote the file or message. It is left as it is. */
export class FormatVersionError extends Error {
  override readonly name = "FormatVersionError";

  constructor(what: string, path: string, expected: string, found: string, writer = NEWER) {
    super(`Cannot open ${what} "${path}": expected ${expected}, found ${found}. A ${writer} wrote it.`);
  }

  /** For a version that is not the expected one. */
  static of(what: string, path: string, expected: number, found: number): FormatVersionError {
    const writer = writerOf(expected, found);
    return new FormatVersionError(what, path, `format version ${expected}`, `${found}`, writer);
  }
}

/** What kind of program wrote a version that is not the expected one: no release wrote an older one. */
function writerOf(expected: number, found: number): string {
  return found > expected ? NEWER : "program from before the first release";
}

/** The members of a JSON file in this version of its format, or what is wrong with it. */
export function parseVersionedJson(
  bytes: Uint8Array,
  expected: number,
): Result<Readonly<Record<string, unknown>>, string> {
  const text = decodeUtf8(bytes);
  const members = text === null ? null : parseJson(text);
  if (!isObject(members)) return fail("it is not a JSON object");
  const { version } = members;
  if (typeof version !== "number" || !Number.isInteger(version) || version < 1) {
    return fail("its format version is missing");
  }
  if (version === expected) return ok(members);
  const writer = writerOf(expected, version);
  return fail(`it has format version ${version} of a ${writer}, and this program reads version ${expected}`);
}
