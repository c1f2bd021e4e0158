import { keyOf } from "../clients/owntracks/encryption.ts";
import {
  type FileFormat,
  SharedFile,
  type SharedFileDependencies,
  type SharedFileError,
  type SharedFileState,
} from "../directory/shared-file.ts";
import { fail, ok, type Result } from "../lib/result.ts";
import type { AppId } from "../model/ids.ts";
import { encodePassPhraseFile, type PassPhrase, parsePassPhraseFile } from "./pass-phrase-file.ts";

/**
 * Of an app, for devices of one name. What a broker brings says nothing of keys, so each of them is tried: one takes
 * 80 ms with a box of 16 MiB.
 */
export const SAME_NAME_MAX = 16;

export type PassPhraseError =
  | SharedFileError
  | { readonly kind: "pass_phrase_not_found"; readonly keyId: string; readonly deviceId: string | null }
  | { readonly kind: "too_many_pass_phrases"; readonly appId: AppId; readonly deviceId: string | null };

/** Which pass phrase it is. */
export type PassPhraseName = Pick<PassPhrase, "keyId" | "deviceId">;

/** Who has encrypted something: a key, or a broker, of which any key of the app may be meant. */
export interface Encrypter {
  readonly appId: AppId;
  /** Null for a broker. */
  readonly keyId: string | null;
  readonly deviceId: string | null;
}

/** Pass phrases by what they are looked up with. */
interface PassPhraseIndex {
  readonly list: readonly PassPhrase[];
  /** Keys to open boxes with, by key or app and by device. */
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

  /** Where the file can't be used, nothing that is encrypted can be opened. */
  get state(): SharedFileState {
    return this.#file.state;
  }

  /** What may open a box, the likeliest first: made for the device, for its name without a user, for any device. */
  boxKeys({ appId, keyId, deviceId }: Encrypter): readonly Uint8Array[] {
    const { boxKeys } = this.#file.value;
    if (boxKeys.size === 0) return [];
    return namesOf(deviceId).flatMap((name) => {
      const place = keyId === null ? placeOf("app", appId, name) : placeOf("key", keyId, name);
      return boxKeys.get(place) ?? [];
    });
  }

  /** Puts it in place of the one that the key had for the device. */
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
    for (const place of [placeOf("key", keyId, deviceId), placeOf("app", appId, deviceId)]) {
      boxKeys.set(place, [...(boxKeys.get(place) ?? []), boxKey]);
    }
  }
  return { list, boxKeys };
}

/** No two places are written alike, whatever apps and devices are called. */
function placeOf(kind: "key" | "app", owner: string, deviceId: string | null): string {
  return JSON.stringify([kind, owner, deviceId]);
}

/** Names that a phrase for a device may have been set under. */
function namesOf(deviceId: string | null): (string | null)[] {
  if (deviceId === null) return [null];
  const colon = deviceId.indexOf(":");
  const withoutUser = colon < 0 ? [] : [deviceId.slice(colon + 1)];
  return [deviceId, ...withoutUser, null];
}
