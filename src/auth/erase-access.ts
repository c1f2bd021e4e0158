import type { ErasureSubject } from "../directory/erasure-ledger.ts";
import type { SharedFileError } from "../directory/shared-file.ts";
import { ok, type Result } from "../lib/result.ts";
import type { KeyRecord } from "./key-file.ts";
import type { KeyStore } from "./key-store.ts";
import type { PassPhrase, PassPhrases } from "./pass-phrases.ts";

/** What names an erased device or user among the keys. Ids of keys tell nothing of it. */
export interface SubjectAccess {
  /** Keys that are bound to it. */
  readonly keyIds: readonly string[];
  /** Share links that show it, perhaps among others. */
  readonly linkIds: readonly string[];
  /** The keys of pass phrases that are for it alone, or that belong to a key bound to it. */
  readonly passPhraseKeyIds: readonly string[];
}

export interface AccessDependencies {
  readonly keys: Pick<KeyStore, "list" | "refresh" | "removeAll">;
  readonly passPhrases: Pick<PassPhrases, "list" | "reload" | "removeAll">;
}

/** Finds what `eraseAccess()` would remove. */
export async function findAccess(
  { keys, passPhrases }: AccessDependencies,
  subject: ErasureSubject,
): Promise<SubjectAccess> {
  await Promise.all([keys.refresh(), passPhrases.reload()]);
  const named = keys.list().filter(namesSubject(subject));
  return accessOf(named, passPhrases.list().filter(isFor(subject, new Set(named.map(({ id }) => id)))));
}

/**
 * Removes keys that are bound to the subject, share links that show it, and its pass phrases. All of them end, and so
 * do keys that they made. They leave their files, since a revoked key's record would still name the subject.
 */
export async function eraseAccess(
  { keys, passPhrases }: AccessDependencies,
  subject: ErasureSubject,
): Promise<Result<SubjectAccess, SharedFileError>> {
  await passPhrases.reload();
  // First the pass phrases, which are found by the keys.
  await keys.refresh();
  const keyIds = new Set(
    keys
      .list()
      .filter(namesSubject(subject))
      .map(({ id }) => id),
  );
  const phrases = await passPhrases.removeAll(isFor(subject, keyIds));
  if (!phrases.ok) return phrases;
  const removed = await keys.removeAll(namesSubject(subject));
  return removed.ok ? ok(accessOf(removed.value, phrases.value)) : removed;
}

function accessOf(named: readonly KeyRecord[], phrases: readonly Pick<PassPhrase, "keyId">[]): SubjectAccess {
  const idsOf = (records: readonly KeyRecord[]) => records.map(({ id }) => id);
  return {
    keyIds: idsOf(named.filter(({ view }) => view === null)),
    linkIds: idsOf(named.filter(({ view }) => view !== null)),
    passPhraseKeyIds: phrases.map(({ keyId }) => keyId),
  };
}

/** Revoked and expired keys count, too. */
function namesSubject({ kind, appId, id }: ErasureSubject): (key: KeyRecord) => boolean {
  return (key) => {
    if (key.appId !== appId) return false;
    if (kind === "user") return key.userId === id;
    return key.deviceId === id || key.view?.deviceIds.some((deviceId) => deviceId === id) === true;
  };
}

/** A pass phrase for a name without a user may be that of other users' devices, so it stays. */
function isFor(
  { kind, appId, id }: ErasureSubject,
  keyIds: ReadonlySet<string>,
): (passPhrase: PassPhrase) => boolean {
  return (passPhrase) =>
    keyIds.has(passPhrase.keyId) ||
    (kind === "device" && passPhrase.appId === appId && passPhrase.deviceId === id);
}
