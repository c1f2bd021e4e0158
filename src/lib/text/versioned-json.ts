import { writerOf } from "../format-version-error.ts";
import { isObject } from "../is-object.ts";
import { fail, ok, type Result } from "../result.ts";
import { parseJson } from "./long-json.ts";
import { decodeUtf8 } from "./long-text.ts";

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
