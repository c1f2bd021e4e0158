import { randomBytes } from "node:crypto";
import {
  type FileFormat,
  SharedFile,
  type SharedFileDependencies,
  type SharedFileError,
  type SharedFileState,
} from "../directory/shared-file.ts";
import { fail, ok, type Result } from "../lib/result.ts";
import type { Binding } from "../model/binding.ts";
import type { AppId } from "../model/ids.ts";
import { createKeyText, encodeBase62, hashKey } from "./api-key.ts";
import { encodeKeyFile, type KeyRecord, type Permission, parseKeyFile } from "./key-file.ts";
import type { TierName } from "./tiers.ts";
import { VIEW_DEVICES_MAX, type ViewSpec } from "./view.ts";

/** What a key that came with a request is. */
export type KeyLookup =
  | { readonly kind: "known"; readonly key: KeyRecord }
  | { readonly kind: "unknown" | "revoked" | "expired" };

export interface KeySpec extends Binding {
  readonly appId: AppId;
  readonly permissions: readonly Permission[];
  /** Goes with the permission `view`, and with no other. */
  readonly view: ViewSpec | null;
  readonly tier: TierName;
  readonly label: string;
  readonly expiresMs: number | null;
}

export interface NewKey {
  readonly key: KeyRecord;
  /** The one time that the key's text is seen. */
  readonly text: string;
}

export type MakingError =
  | { readonly kind: "maker_ended" }
  /** It has made as many as may live at once, or they show as many devices as they may. */
  | { readonly kind: "too_many_keys" };

export interface KeysExistError {
  readonly kind: "keys_exist";
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
  findById(id: string): KeyLookup;
  /** All keys in order of creation, revoked and expired ones too. */
  list(): readonly KeyRecord[];
  create(spec: KeySpec): Promise<Result<NewKey, SharedFileError>>;
  /** Makes a key where there is no file of keys, also by then: of several nodes that begin at once, one makes it. */
  createFirst(spec: KeySpec): Promise<Result<NewKey, SharedFileError | KeysExistError>>;
  /** Makes a key that ends with another. */
  make(makerId: string, spec: KeySpec): Promise<Result<NewKey, SharedFileError | MakingError>>;
  /** Revoking again changes nothing. */
  revoke(id: string): Promise<Result<KeyRecord, SharedFileError | UnknownKeyError>>;
  /** Reads the file again. Never fails: what is wrong with the file is its `state`. */
  reload(): Promise<void>;
  /** Like `reload`, but a cluster's servers are asked. */
  refresh(): Promise<void>;
}

/** Of one maker. As many that have ended are kept in the file, the newest, so that it stays small. */
export const MADE_KEYS_MAX = 100;
/** That the keys of one maker may show in all, likewise: the file has the id of each, and is written in one piece. */
export const MADE_DEVICES_MAX = VIEW_DEVICES_MAX;

/** Answers without a key, made once: this is asked on every request. */
const NO_KEY = {
  unknown: { kind: "unknown" },
  revoked: { kind: "revoked" },
  expired: { kind: "expired" },
} as const;

/** A key and what it ends with: its maker, or nothing, or one that is gone. */
interface HeldKey {
  readonly key: KeyRecord;
  readonly maker: HeldKey | "gone" | null;
}

interface Keys {
  readonly list: readonly KeyRecord[];
  readonly byHash: ReadonlyMap<string, HeldKey>;
  readonly byId: ReadonlyMap<string, HeldKey>;
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

  function lookUp(held: HeldKey | "gone" | undefined): KeyLookup {
    if (held === undefined || held === "gone") return NO_KEY.unknown;
    const { key, maker } = held;
    if (key.revokedMs !== null) return NO_KEY.revoked;
    if (key.expiresMs !== null && key.expiresMs <= clock.nowMs()) return NO_KEY.expired;
    const ended = maker === null ? null : lookUp(maker);
    return ended === null || ended.kind === "known" ? { kind: "known", key } : ended;
  }

  function create(spec: KeySpec, { list }: Keys) {
    const created = createKey(spec, null, clock.nowMs(), list);
    return ok({ value: keysOf([...list, created.key]), answer: created });
  }

  return {
    get state() {
      return file.state;
    },
    find: (keyText) => lookUp(file.value.byHash.get(hashKey(keyText))),
    findById: (id) => lookUp(file.value.byId.get(id)),
    list: () => file.value.list,
    create: (spec) => file.change((keys) => create(spec, keys), true),
    createFirst: (spec) =>
      file.change<NewKey, KeysExistError>((keys) =>
        file.state === "missing" ? create(spec, keys) : fail({ kind: "keys_exist" }),
      ),
    make: (makerId, spec) =>
      file.change<NewKey, MakingError>(({ list, byId }) => {
        const isLive = (id: string) => lookUp(byId.get(id)).kind === "known";
        if (!isLive(makerId)) return fail({ kind: "maker_ended" });
        const made = list.filter((key) => key.makerId === makerId);
        const live = made.filter(({ id }) => isLive(id));
        if (!isInBounds([...live, spec])) return fail({ kind: "too_many_keys" });
        const ended = made.filter((key) => !live.includes(key));
        const forgotten = new Set(ended.filter((_, index) => !isInBounds(ended.slice(index))));
        const created = createKey(spec, makerId, clock.nowMs(), list);
        const kept = list.filter((key) => !forgotten.has(key));
        return ok({ value: keysOf([...kept, created.key]), answer: created });
      }, true),
    revoke: (id) =>
      file.change(({ list }) => {
        const found = list.find((key) => key.id === id);
        if (found === undefined) return fail({ kind: "key_not_found", id } as const);
        const revoked = { ...found, revokedMs: found.revokedMs ?? clock.nowMs() };
        return ok({ value: keysOf(list.map((key) => (key === found ? revoked : key))), answer: revoked });
      }),
    reload: () => file.reload(),
    refresh: () => file.refresh(),
  };
}

/** Whether one maker may have so many that live, or so many that have ended. */
function isInBounds(keys: readonly Pick<KeyRecord, "view">[]): boolean {
  let devices = 0;
  for (const { view } of keys) devices += view?.deviceIds.length ?? 0;
  return keys.length <= MADE_KEYS_MAX && devices <= MADE_DEVICES_MAX;
}

/** Makers stand before what they made, so that nothing is made by itself in the end. */
function keysOf(list: readonly KeyRecord[]): Keys {
  const byHash = new Map<string, HeldKey>();
  const byId = new Map<string, HeldKey>();
  for (const key of list) {
    const held = { key, maker: key.makerId === null ? null : (byId.get(key.makerId) ?? "gone") } as const;
    byHash.set(key.sha256, held);
    byId.set(key.id, held);
  }
  return { list, byHash, byId };
}

function createKey(
  spec: KeySpec,
  makerId: string | null,
  createdMs: number,
  existing: readonly KeyRecord[],
): NewKey {
  const text = createKeyText();
  const key: KeyRecord = {
    id: createKeyId(existing),
    appId: spec.appId,
    permissions: spec.permissions,
    view: spec.view,
    tier: spec.tier,
    label: spec.label,
    deviceId: spec.deviceId,
    userId: spec.userId,
    makerId,
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
