import { isObject } from "../lib/is-object.ts";
import { fail, ok, type Result } from "../lib/result.ts";
import { parseVersionedJson } from "../lib/text/versioned-json.ts";
import type { AppId } from "../model/ids.ts";
import { parseAppId } from "../model/ids.ts";
import { deviceIdFault } from "../model/report.ts";

/** What opens the messages that devices of a key encrypt. Whoever holds it holds their secret, so the file is 0600. */
export interface PassPhrase {
  readonly keyId: string;
  /** Of the key. */
  readonly appId: AppId;
  /** As it is stored, or without its user before the colon; null for all devices of the key. */
  readonly deviceId: string | null;
  readonly text: string;
}

/** Version of the file's format. A file of another one is left alone. */
const FORMAT_VERSION = 1;

/** Of these the apps use the first 32 bytes. */
export const PASS_PHRASE_CHARACTERS_MAX = 128;

const CONTROL_CHARACTER = /[\x00-\x1f\x7f-\x9f]/;

/** Null where it is empty or too long, or holds what nobody types. */
export function parsePassPhrase(text: string): string | null {
  const isTyped = text !== "" && text.isWellFormed() && !CONTROL_CHARACTER.test(text);
  return isTyped && [...text].length <= PASS_PHRASE_CHARACTERS_MAX ? text : null;
}

export function encodePassPhraseFile(passPhrases: readonly PassPhrase[]): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify({ version: FORMAT_VERSION, passPhrases }, null, 2)}\n`);
}

/** The file's pass phrases, or what is wrong with it in words that name the place and none of them. */
export function parsePassPhraseFile(bytes: Uint8Array): Result<readonly PassPhrase[], string> {
  const content = parseVersionedJson(bytes, FORMAT_VERSION);
  if (!content.ok) return content;
  const { passPhrases } = content.value;
  if (!Array.isArray(passPhrases)) return fail("its list of pass phrases is missing");
  const parsed: PassPhrase[] = [];
  for (const [index, entry] of passPhrases.entries()) {
    const one = parseEntry(entry);
    if (!one.ok) return fail(`pass phrase number ${index + 1} has no valid ${one.error}`);
    parsed.push(one.value);
  }
  return ok(parsed);
}

/** The entry, or the name of the first member that is wrong. */
function parseEntry(entry: unknown): Result<PassPhrase, keyof PassPhrase> {
  const { keyId, appId, deviceId, text } = isObject(entry) ? entry : ({} as Record<string, unknown>);
  if (typeof keyId !== "string" || !/^k_[0-9A-Za-z]{8}$/.test(keyId)) return fail("keyId");
  const app = typeof appId === "string" ? parseAppId(appId) : null;
  if (app === null) return fail("appId");
  const isDevice = deviceId === null || (typeof deviceId === "string" && deviceIdFault(deviceId) === null);
  if (!isDevice) return fail("deviceId");
  const phrase = typeof text === "string" ? parsePassPhrase(text) : null;
  return phrase === null ? fail("text") : ok({ keyId, appId: app, deviceId, text: phrase });
}
