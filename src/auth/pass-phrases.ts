import { keyOf } from "../clients/owntracks/encryption.ts";
import {
  type FileFormat,
  SharedFile,
  type SharedFileDependencies,
  type SharedFileError,
  type SharedFileState,
} from "../directory/shared-file.ts";
import { isObject } from "../lib/is-object.ts";
import { fail, ok, type Result } from "../lib/result.ts";
import { parseVersionedJson } from "../lib/text/versioned-json.ts";
import { type AppId, parseAppId } from "../model/ids.ts";
import { deviceIdFault } from "../model/report.ts";

/** Decrypts the messages that devices of a key encrypt. A secret: only the file's owner may read the file. */
export interface PassPhrase {
  readonly keyId: string;
  readonly appId: AppId;
  /** The device's stored name, with or without the user before its colon; null for all devices of the key. */
  readonly deviceId: string | null;
  readonly text: string;
}

/**
 * The most pass phrases of one app for devices of one name. A message from a broker names no key, so the server tries
 * each of them, and one attempt takes 80 ms with a box of 16 MiB.
 */
export const SAME_NAME_MAX = 16;

export type PassPhraseError =
  | SharedFileError
  | { readonly kind: "pass_phrase_not_found"; readonly keyId: string; readonly deviceId: string | null }
  | { readonly kind: "too_many_pass_phrases"; readonly appId: AppId; readonly deviceId: string | null };

export type PassPhraseName = Pick<PassPhrase, "keyId" | "deviceId">;

export interface Encrypter {
  readonly appId: AppId;
  /** Null for a broker, whose message may come from any key of the app. */
  readonly keyId: string | null;
  readonly deviceId: string | null;
}

/** Pass phrases by what they are looked up with. */
interface PassPhraseIndex {
  readonly list: readonly PassPhrase[];
  /** Keys that open boxes, by key or app and by device. */
  readonly boxKeys: ReadonlyMap<string, readonly Uint8Array[]>;
}

const PASS_PHRASE_FILE: FileFormat<PassPhraseIndex> = {
  empty: indexOf([]),
  encode: ({ list }) => encodePassPhraseFile(list),
  parse(bytes) {
    const parsed = parsePassPhraseFile(bytes);
    return parsed.ok ? ok(indexOf(parsed.value)) : parsed;
  },
};

/** The pass phrases of a data directory, in a file of their own beside the keys. */
export class PassPhrases {
  readonly #file: SharedFile<PassPhraseIndex>;

  private constructor(file: SharedFile<PassPhraseIndex>) {
    this.#file = file;
  }

  static async open(dependencies: SharedFileDependencies): Promise<PassPhrases> {
    return new PassPhrases(await SharedFile.open(dependencies, PASS_PHRASE_FILE));
  }

  /** While the file can't be used, no encrypted message can be opened. */
  get state(): SharedFileState {
    return this.#file.state;
  }

  list(): readonly PassPhrase[] {
    return this.#file.value.list;
  }

  /** Candidate keys for a box, the likeliest first: for the device, for its name without a user, for any device. */
  boxKeys({ appId, keyId, deviceId }: Encrypter): readonly Uint8Array[] {
    const { boxKeys } = this.#file.value;
    if (boxKeys.size === 0) return [];
    return namesOf(deviceId).flatMap((name) => {
      const owner = keyId === null ? ownerOf("app", appId, name) : ownerOf("key", keyId, name);
      return boxKeys.get(owner) ?? [];
    });
  }

  /** Replaces the key's pass phrase for the device. */
  set(passPhrase: PassPhrase): Promise<Result<void, PassPhraseError>> {
    return this.#file.change<void, PassPhraseError>(({ list }) => {
      const { appId, deviceId } = passPhrase;
      const others = list.filter((other) => !isSame(other, passPhrase));
      const sameName = others.filter((other) => other.appId === appId && other.deviceId === deviceId);
      if (sameName.length >= SAME_NAME_MAX) return fail({ kind: "too_many_pass_phrases", appId, deviceId });
      return ok({ value: indexOf([...others, passPhrase]), answer: undefined });
    });
  }

  remove(name: PassPhraseName): Promise<Result<void, PassPhraseError>> {
    return this.#file.change<void, PassPhraseError>(({ list }) => {
      const others = list.filter((other) => !isSame(other, name));
      if (others.length === list.length) return fail({ kind: "pass_phrase_not_found", ...name });
      return ok({ value: indexOf(others), answer: undefined });
    });
  }

  /** Removes pass phrases; returns them. */
  async removeAll(
    isLeaving: (passPhrase: PassPhrase) => boolean,
  ): Promise<Result<readonly PassPhrase[], SharedFileError>> {
    if (typeof this.state !== "object" && !this.list().some(isLeaving)) return ok([]); // Writes no file.
    return this.#file.change<readonly PassPhrase[], never>(({ list }) => {
      const staying = list.filter((passPhrase) => !isLeaving(passPhrase));
      return ok({ value: indexOf(staying), answer: list.filter(isLeaving) });
    });
  }

  reload(): Promise<void> {
    return this.#file.reload();
  }
}

function isSame(a: PassPhraseName, b: PassPhraseName): boolean {
  return a.keyId === b.keyId && a.deviceId === b.deviceId;
}

function indexOf(list: readonly PassPhrase[]): PassPhraseIndex {
  const boxKeys = new Map<string, Uint8Array[]>();
  for (const { keyId, appId, deviceId, text } of list) {
    const boxKey = keyOf(text);
    for (const owner of [ownerOf("key", keyId, deviceId), ownerOf("app", appId, deviceId)]) {
      boxKeys.set(owner, [...(boxKeys.get(owner) ?? []), boxKey]);
    }
  }
  return { list, boxKeys };
}

/** Different owners have different texts, whatever characters the names of apps and devices have. */
function ownerOf(kind: "key" | "app", id: string, deviceId: string | null): string {
  return JSON.stringify([kind, id, deviceId]);
}

/** The names under which a pass phrase for the device may have been set. */
function namesOf(deviceId: string | null): (string | null)[] {
  if (deviceId === null) return [null];
  const colon = deviceId.indexOf(":");
  const withoutUser = colon < 0 ? [] : [deviceId.slice(colon + 1)];
  return [deviceId, ...withoutUser, null];
}

/** The program does not touch a file of another version. */
const FORMAT_VERSION = 1;

/** The apps use the first 32 bytes. */
export const PASS_PHRASE_CHARACTERS_MAX = 128;

const CONTROL_CHARACTER = /[\x00-\x1f\x7f-\x9f]/;

/** The pass phrase, or null if it is empty, too long, or has characters that can't be typed. */
export function parsePassPhrase(text: string): string | null {
  const isTyped = text !== "" && text.isWellFormed() && !CONTROL_CHARACTER.test(text);
  return isTyped && [...text].length <= PASS_PHRASE_CHARACTERS_MAX ? text : null;
}

export function encodePassPhraseFile(passPhrases: readonly PassPhrase[]): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify({ version: FORMAT_VERSION, passPhrases }, null, 2)}\n`);
}

/** The file's pass phrases, or an error text that names the entry but no pass phrase. */
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

/** The entry, or the name of the first invalid member. */
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
