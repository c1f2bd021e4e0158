import type { RefusedMessage } from "../../clients/refused-message.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";
import { FileError } from "../../runtime/files.ts";
import type { IndexedEntry } from "./entry-index.ts";
import type { Quarantine } from "./quarantine.ts";

/** Whose messages an erasure removes from the quarantine. */
export interface MessageScope {
  readonly appId: AppId;
  readonly deviceIds: readonly string[];
  readonly userId: string | null;
  /** Keys that are bound to the subject. */
  readonly keyIds: readonly string[];
  /** The erasure's entry of the log: later messages stay. */
  readonly sequence: number;
}

export interface MessagesOfSubject {
  readonly ids: readonly string[];
  /** Their size as it counts in the shares. */
  readonly bytes: number;
  /** Names of files that can't be read, though they may have a message of the user. */
  readonly unsearched: readonly string[];
}

type ErasingQuarantine = Pick<Quarantine, "list" | "find" | "delete">;

const ANY = { client: null, reason: null, deviceId: null };

/** Finds what `eraseMessages()` would delete. */
export async function findMessages(
  quarantine: Pick<ErasingQuarantine, "list" | "find">,
  { appId, deviceIds, userId, keyIds, sequence }: MessageScope,
): Promise<MessagesOfSubject> {
  const [devices, keys] = [new Set(deviceIds), new Set(keyIds)];
  const ids: string[] = [];
  const unsearched: string[] = [];
  let bytes = 0;
  for (const entry of quarantine.list(appId, ANY, 0, Number.POSITIVE_INFINITY).entries) {
    if (entry.sequence >= sequence) continue;
    let isOf = keys.has(entry.keyId) || (entry.deviceId !== null && devices.has(entry.deviceId));
    if (!isOf && userId !== null) {
      const message = await readMessage(quarantine, entry);
      if (message === null) unsearched.push(entry.name);
      else isOf = message.user === userId || message.basicUser === userId;
    }
    if (!isOf) continue;
    ids.push(entry.id);
    bytes += entry.bytes;
  }
  return { ids, bytes, unsearched };
}

/** Deletes the messages of a device or user for good. On `unavailable` some may be deleted. */
export async function eraseMessages(
  quarantine: ErasingQuarantine,
  scope: MessageScope,
): Promise<Result<MessagesOfSubject, ServiceError>> {
  const messages = await findMessages(quarantine, scope);
  if (messages.ids.length === 0) return ok(messages);
  const deleted = await quarantine.delete(scope.appId, messages.ids);
  return deleted.ok ? ok(messages) : fail(deleted.error);
}

/** Null if the file is damaged or can't be read. */
async function readMessage(
  quarantine: Pick<ErasingQuarantine, "find">,
  { appId, id }: IndexedEntry,
): Promise<RefusedMessage | null> {
  try {
    return (await quarantine.find(appId, id))?.message ?? null;
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return null;
  }
}
