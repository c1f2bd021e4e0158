import { randomBytes } from "node:crypto";
import { fail, ok, type Result } from "../lib/result.ts";
import type { Binding } from "../model/binding.ts";
import type { AppId } from "../model/ids.ts";
import { createKeyText, hashKey } from "./api-key.ts";
import { encodeBase62 } from "./base62.ts";
import { encodeKeyFile, type KeyRecord, parseKeyFile } from "./key-file.ts";
import type { Permission } from "./permissions.ts";
import {
  type FileFormat,
  SharedFile,
  type SharedFileDependencies,
  type SharedFileError,
  type SharedFileState,
} from "./shared-file.ts";
import type { TierName } from "./tiers.ts";

/** What a key that came with a request is. */
export type KeyLookup =
  | { readonly kind: "known"; readonly key: KeyRecord }
  | { readonly kind: "unknown" | "revoked" | "expired" };

export interface KeySpec extends Binding {
  readonly appId: AppId;
  readonly permissions: readonly Permission[];
  readonly tier: TierName;
  readonly label: string;
  readonly expiresMs: number | null;
}

export interface NewKey {
  readonly key: KeyRecord;
  /** The one time that the key's text is seen. */
  readonly text: string;
}

export interface UnknownKeyError {
  readonly kind: "key_not_found";
  readonly id: string;
}

/** The keys of a data directory: read from one file, which the command line and the server share. */
export interface KeyStore {
  /** Where the file can't be used, every key is unknown. */
  readonly state: SharedFileState;
  find(keyText: string): KeyLookup;
  /** All keys in order of creation, revoked and expired ones too. */
  list(): readonly KeyRecord[];
  create(spec: KeySpec): Promise<Result<NewKey, SharedFileError>>;
  /** Revoking again changes nothing. */
  revoke(id: string): Promise<Result<KeyRecord, SharedFileError | UnknownKeyError>>;
  /** Reads the file again. Never fails: what is wrong with the file is its `state`. */
  reload(): Promise<void>;
}

/** Answers without a key, made once: this is asked on every request. */
const NO_KEY = {
  unknown: { kind: "unknown" },
  revoked: { kind: "revoked" },
  expired: { kind: "expired" },
} as const;

interface Keys {
  readonly list: readonly KeyRecord[];
  readonly byHash: ReadonlyMap<string, KeyRecord>;
}

const KEY_FILE: FileFormat<Keys> = {
  empty: keysOf([]),
  encode: ({ list }) => encodeKeyFile(list),
  parse(bytes) {
    const parsed = parseKeyFile(bytes);
    return parsed.ok ? ok(keysOf(parsed.value)) : parsed;
  },
};

export async function openKeyStore(dependencies: SharedFileDependencies): Promise<KeyStore> {
  const { clock } = dependencies;
  const file = await SharedFile.open(dependencies, KEY_FILE);
  return {
    get state() {
      return file.state;
    },
    find(keyText) {
      const key = file.value.byHash.get(hashKey(keyText));
      if (key === undefined) return NO_KEY.unknown;
      if (key.revokedMs !== null) return NO_KEY.revoked;
      if (key.expiresMs !== null && key.expiresMs <= clock.nowMs()) return NO_KEY.expired;
      return { kind: "known", key };
    },
    list: () => file.value.list,
    create: (spec) =>
      file.change(({ list }) => {
        const created = createKey(spec, clock.nowMs(), list);
        return ok({ value: keysOf([...list, created.key]), answer: created });
      }),
    revoke: (id) =>
      file.change(({ list }) => {
        const found = list.find((key) => key.id === id);
        if (found === undefined) return fail({ kind: "key_not_found", id } as const);
        const revoked = { ...found, revokedMs: found.revokedMs ?? clock.nowMs() };
        return ok({ value: keysOf(list.map((key) => (key === found ? revoked : key))), answer: revoked });
      }),
    reload: () => file.reload(),
  };
}

function keysOf(list: readonly KeyRecord[]): Keys {
  return { list, byHash: new Map(list.map((key) => [key.sha256, key])) };
}

function createKey(spec: KeySpec, createdMs: number, existing: readonly KeyRecord[]): NewKey {
  const text = createKeyText();
  const key: KeyRecord = {
    id: createKeyId(existing),
    appId: spec.appId,
    permissions: spec.permissions,
    tier: spec.tier,
    label: spec.label,
    deviceId: spec.deviceId,
    userId: spec.userId,
    createdMs,
    lastFour: text.slice(-4),
    expiresMs: spec.expiresMs,
    revokedMs: null,
    sha256: hashKey(text),
  };
  return { key, text };
}

function createKeyId(existing: readonly KeyRecord[]): string {
  for (;;) {
    const id = `k_${encodeBase62(randomBytes(8), 11).slice(-8)}`;
    if (!existing.some((key) => key.id === id)) return id;
  }
}
