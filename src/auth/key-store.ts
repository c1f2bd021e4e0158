import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { dirname } from "node:path";
import { fail, ok, type Result } from "../lib/result.ts";
import type { Binding } from "../model/binding.ts";
import type { AppId } from "../model/ids.ts";
import { FileError, type Files, isOutOfDescriptors } from "../runtime/files.ts";
import type { AcquireLock, LockOwner } from "../runtime/lock.ts";
import type { Clock } from "../time/clock.ts";
import { createKeyText, hashKey } from "./api-key.ts";
import { encodeBase62 } from "./base62.ts";
import { encodeKeyFile, type KeyRecord, parseKeyFile } from "./key-file.ts";
import type { Permission } from "./permissions.ts";
import type { TierName } from "./tiers.ts";

/** Whether the key file can be used. Where it can't, every key is unknown. */
export type KeyFileState = "ok" | "missing" | { readonly damaged: string };

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

export type KeyStoreError =
  /** The file can't be read, so writing it would lose keys. `reason` says what is wrong with it. */
  | { readonly kind: "key_file_damaged"; readonly reason: string }
  /** Another process has been changing the keys for longer than a change takes. */
  | { readonly kind: "key_file_busy"; readonly owner: LockOwner | null }
  | { readonly kind: "key_not_found"; readonly id: string };

/** The keys of a data directory: read from one file, which the command line and the server share. */
export interface KeyStore {
  readonly state: KeyFileState;
  find(keyText: string): KeyLookup;
  /** All keys in order of creation, revoked and expired ones too. */
  list(): readonly KeyRecord[];
  create(spec: KeySpec): Promise<Result<NewKey, KeyStoreError>>;
  /** Revoking again changes nothing. */
  revoke(id: string): Promise<Result<KeyRecord, KeyStoreError>>;
  /** Reads the file again. Never fails: what is wrong with the file is its `state`. */
  reload(): Promise<void>;
}

/** What the store needs of the disk. */
export type KeyFiles = Pick<Files, "read" | "replace" | "makeDirectory">;

export interface KeyStoreDependencies {
  readonly files: KeyFiles;
  /** Of `keys.json`. Changes are made under the lock of the file beside it, `keys.json.lock`. */
  readonly path: string;
  readonly clock: Clock;
  readonly acquireLock: AcquireLock;
  /** Who this process is, for others that wait for the lock. */
  readonly process: { readonly pid: number; readonly command: string };
}

const LOCK_WAIT_MS = 5000;
const LOCK_RETRY_MS = 50;

/** Answers without a key, made once: this is asked on every request. */
const NO_KEY = {
  unknown: { kind: "unknown" },
  revoked: { kind: "revoked" },
  expired: { kind: "expired" },
} as const;

interface Content {
  /** The file as it was read; null where it could not be. */
  readonly bytes: Uint8Array | null;
  readonly state: KeyFileState;
  readonly keys: readonly KeyRecord[];
  readonly byHash: ReadonlyMap<string, KeyRecord>;
}

export async function openKeyStore(dependencies: KeyStoreDependencies): Promise<KeyStore> {
  const { files, path, clock, acquireLock, process } = dependencies;
  let content = contentOf(null, "missing", []);
  let working: Promise<unknown> = Promise.resolve();

  /** One step after another, so that a slow read can't put an older file in place of a newer one. */
  function inTurn<Value>(step: () => Promise<Value>): Promise<Value> {
    const turn = working.then(step);
    working = turn.catch(() => undefined);
    return turn;
  }

  async function readAgain(): Promise<void> {
    content = await readContent(files, path, content);
  }

  /** Reads the file, lets `change` decide from its keys, and writes them: nobody else can in between. */
  async function changeKeys<Value>(
    change: (
      keys: readonly KeyRecord[],
    ) => Result<{ keys: readonly KeyRecord[]; value: Value }, KeyStoreError>,
  ): Promise<Result<Value, KeyStoreError>> {
    await files.makeDirectory(dirname(path));
    const lock = await waitForLock();
    if (!lock.ok) return fail({ kind: "key_file_busy", owner: lock.owner });
    try {
      await readAgain();
      if (typeof content.state === "object") {
        return fail({ kind: "key_file_damaged", reason: content.state.damaged });
      }
      const changed = change(content.keys);
      if (!changed.ok) return changed;
      const bytes = encodeKeyFile(changed.value.keys);
      await files.replace(path, bytes);
      content = contentOf(bytes, "ok", changed.value.keys);
      return ok(changed.value.value);
    } finally {
      lock.release();
    }
  }

  async function waitForLock() {
    const giveUpAt = performance.now() + LOCK_WAIT_MS;
    for (;;) {
      const attempt = await acquireLock(`${path}.lock`, { ...process, sinceMs: clock.nowMs() });
      if (attempt.ok || performance.now() >= giveUpAt) return attempt;
      await new Promise((resolve) => setTimeout(resolve, LOCK_RETRY_MS));
    }
  }

  await readAgain();
  return {
    get state() {
      return content.state;
    },
    find(keyText) {
      const key = content.byHash.get(hashKey(keyText));
      if (key === undefined) return NO_KEY.unknown;
      if (key.revokedMs !== null) return NO_KEY.revoked;
      if (key.expiresMs !== null && key.expiresMs <= clock.nowMs()) return NO_KEY.expired;
      return { kind: "known", key };
    },
    list: () => content.keys,
    create: (spec) =>
      inTurn(() =>
        changeKeys((keys) => {
          const created = createKey(spec, clock.nowMs(), keys);
          return ok({ keys: [...keys, created.key], value: created });
        }),
      ),
    revoke: (id) =>
      inTurn(() =>
        changeKeys((keys) => {
          const found = keys.find((key) => key.id === id);
          if (found === undefined) return fail({ kind: "key_not_found", id });
          const revoked = { ...found, revokedMs: found.revokedMs ?? clock.nowMs() };
          return ok({ keys: keys.map((key) => (key === found ? revoked : key)), value: revoked });
        }),
      ),
    reload: () => inTurn(readAgain),
  };
}

/** What the file says now; `before` itself where the file has not changed, which is nearly always. */
async function readContent(files: KeyFiles, path: string, before: Content): Promise<Content> {
  let bytes: Uint8Array;
  try {
    bytes = await files.read(path);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    if (isOutOfDescriptors(error) && before.bytes !== null) return before; // Says nothing about the file.
    return contentOf(null, error.code === "ENOENT" ? "missing" : { damaged: error.message }, []);
  }
  if (before.bytes !== null && Buffer.compare(bytes, before.bytes) === 0) return before;
  const parsed = parseKeyFile(bytes);
  return parsed.ok ? contentOf(bytes, "ok", parsed.value) : contentOf(bytes, { damaged: parsed.error }, []);
}

function contentOf(bytes: Uint8Array | null, state: KeyFileState, keys: readonly KeyRecord[]): Content {
  return { bytes, state, keys, byHash: new Map(keys.map((key) => [key.sha256, key])) };
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
