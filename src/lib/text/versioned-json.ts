import { isObject } from "../is-object.ts";
import { fail, ok, type Result } from "../result.ts";
import { parseJson } from "./long-json.ts";
import { decodeUtf8 } from "./long-text.ts";

/** Members of a file of JSON, and which version of its format they are in. */
export interface VersionedJson {
  readonly version: number;
  readonly members: Readonly<Record<string, unknown>>;
}

/** What a file of JSON says that has its format's version in it; or what is wrong with it, of a newer version too. */
export function parseVersionedJson(bytes: Uint8Array, versionMax: number): Result<VersionedJson, string> {
  const text = decodeUtf8(bytes);
  const members = text === null ? null : parseJson(text);
  if (!isObject(members)) return fail("it is not a JSON object");
  const { version } = members;
  if (typeof version !== "number" || !Number.isInteger(version) || version < 1) {
    return fail("its format version is missing");
  }
  if (version > versionMax) {
    return fail(`it has format version ${version}, and this program knows up to ${versionMax}`);
  }
  return ok({ version, members });
}
