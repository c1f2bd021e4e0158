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

/** What the server knows about the key of a request. */
export type KeyLookup =
  | { readonly kind: "known"; readonly key: KeyRecord }
  | { readonly kind: "unknown" | "revoked" | "expired" };

export interface KeySpec extends Binding {
  readonly appId: AppId;
  readonly permissions: readonly Permission[];
  /** Set if and only if the permission is `view`. */
  readonly view: ViewSpec | null;
  readonly tier: TierName;
  readonly label: string;
  readonly expiresMs: number | null;
}

export interface NewKey {
  readonly key: KeyRecord;
  /** The only copy of the key's text. */
  readonly text: string;
}

export type MakingError =
  | { readonly kind: "maker_ended" }
  /** The maker has `MADE_KEYS_MAX` live keys, or they show `MADE_DEVICES_MAX` devices together. */
  | { readonly kind: "too_many_keys" };

export interface KeysExistError {
  readonly kind: "keys_exist";
}

export interface UnknownKeyError {
  readonly kind: "key_not_found";
  readonly id: string;
}

/** The keys of a data directory, in one file that the command line and the server share. */
export interface KeyStore {
  /** While the file can't be read, every key is unknown. */
  readonly state: SharedFileState;
  find(keyText: string): KeyLookup;
  findById(id: string): KeyLookup;
  /** All keys in order of creation, revoked and expired ones too. */
  list(): readonly KeyRecord[];
  create(spec: KeySpec): Promise<Result<NewKey, SharedFileError>>;
  /** Creates a key if there is no key file, not even by then: of several nodes that start together, one creates it. */
  createFirst(spec: KeySpec): Promise<Result<NewKey, SharedFileError | KeysExistError>>;
  /** Creates a key that ends when its maker ends. */
  make(makerId: string, spec: KeySpec): Promise<Result<NewKey, SharedFileError | MakingError>>;
  /** Revoking again changes nothing. */
  revoke(id: string): Promise<Result<KeyRecord, SharedFileError | UnknownKeyError>>;
  /** Removes keys from the file, which end with that as do the keys that they made; returns them. */
  removeAll(isLeaving: (key: KeyRecord) => boolean): Promise<Result<readonly KeyRecord[], SharedFileError>>;
  /** Reads the file again. Never fails: `state` has what is wrong with the file. */
  reload(): Promise<void>;
  /** Like `reload`, but asks the cluster's servers. */
  refresh(): Promise<void>;
}

/** Live keys of one maker. The file also stores up to as many ended ones, the newest, so that it stays small. */
export const MADE_KEYS_MAX = 100;
/** Devices that the keys of one maker may show together. The file has the id of each and is rewritten as a whole. */
export const MADE_DEVICES_MAX = VIEW_DEVICES_MAX;

/** Created once, because every request may need one. */
const NO_KEY = {
  unknown: { kind: "unknown" },
  revoked: { kind: "revoked" },
  expired: { kind: "expired" },
} as const;

/** A key and the key that created it: null if the command line did, `gone` if that key is no longer in the file. */
interface LinkedKey {
  readonly key: KeyRecord;
  readonly maker: LinkedKey | "gone" | null;
}

interface Keys {
  readonly list: readonly KeyRecord[];
  readonly byHash: ReadonlyMap<string, LinkedKey>;
  readonly byId: ReadonlyMap<string, LinkedKey>;
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

  function lookUp(linked: LinkedKey | "gone" | undefined): KeyLookup {
    if (linked === undefined || linked === "gone") return NO_KEY.unknown;
    const { key, maker } = linked;
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
        const children = list.filter((key) => key.makerId === makerId);
        const live = children.filter(({ id }) => isLive(id));
        if (!isInBounds([...live, spec])) return fail({ kind: "too_many_keys" });
        const ended = children.filter((key) => !live.includes(key));
        const surplus = new Set(ended.filter((_, index) => !isInBounds(ended.slice(index))));
        const created = createKey(spec, makerId, clock.nowMs(), list);
        const others = list.filter((key) => !surplus.has(key));
        return ok({ value: keysOf([...others, created.key]), answer: created });
      }, true),
    revoke: (id) =>
      file.change(({ list }) => {
        const key = list.find((candidate) => candidate.id === id);
        if (key === undefined) return fail({ kind: "key_not_found", id } as const);
        const revoked = { ...key, revokedMs: key.revokedMs ?? clock.nowMs() };
        return ok({ value: keysOf(list.map((other) => (other === key ? revoked : other))), answer: revoked });
      }),
    async removeAll(isLeaving) {
      if (typeof file.state !== "object" && !file.value.list.some(isLeaving)) return ok([]); // Writes no file.
      return file.change<readonly KeyRecord[], never>(({ list }) => {
        const staying = list.filter((key) => !isLeaving(key));
        return ok({ value: keysOf(staying), answer: list.filter(isLeaving) });
      });
    },
    reload: () => file.reload(),
    refresh: () => file.refresh(),
  };
}

/** Whether these keys of one maker are within the limits, for live and ended keys alike. */
function isInBounds(keys: readonly Pick<KeyRecord, "view">[]): boolean {
  let devices = 0;
  for (const { view } of keys) devices += view?.deviceIds.length ?? 0;
  return keys.length <= MADE_KEYS_MAX && devices <= MADE_DEVICES_MAX;
}

/** A maker comes before its keys in the list, so no chain of makers is a cycle. */
function keysOf(list: readonly KeyRecord[]): Keys {
  const byHash = new Map<string, LinkedKey>();
  const byId = new Map<string, LinkedKey>();
  for (const key of list) {
    const linked = { key, maker: key.makerId === null ? null : (byId.get(key.makerId) ?? "gone") } as const;
    byHash.set(key.sha256, linked);
    byId.set(key.id, linked);
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
