import { directoryPaths } from "../../../src/directory/paths.ts";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import type { AppId } from "../../../src/model/ids.ts";
import { openQuarantine } from "../../../src/quarantine/open-quarantine.ts";
import type { Quarantine } from "../../../src/quarantine/quarantine.ts";
import { createPlatform } from "../../../src/runtime/platform.ts";

/** What the quarantine holds of a message that could not be used. */
export interface QuarantinedMessage {
  readonly id: string;
  /** Of the key it came with. */
  readonly keyId: string;
  readonly reason: string;
  /** Null where all of a message is kept, since nobody could read whose it is. */
  readonly deviceId: string | null;
  /** Its parameters and its body. */
  readonly text: string;
}

const ALL = { client: null, reason: null, deviceId: null };

/** All that a data directory holds of these apps; no server has it open. */
export async function readQuarantine(
  dataDir: string,
  appIds: readonly string[],
): Promise<ReadonlyMap<string, readonly QuarantinedMessage[]>> {
  const { quarantine: directory, damaged: damagedDirectory } = directoryPaths(dataDir);
  const { files } = createPlatform();
  const scheduler = new Scheduler();
  const opened = await openQuarantine({ files, directory, damagedDirectory, scheduler, onDamage: () => {} });
  if (opened.damage.length > 0)
    throw new Error(`The quarantine is damaged: ${JSON.stringify(opened.damage)}`);
  const messages = new Map<string, readonly QuarantinedMessage[]>();
  for (const appId of appIds) messages.set(appId, await readApp(opened.quarantine, appId as AppId));
  await opened.quarantine.close();
  return messages;
}

async function readApp(quarantine: Quarantine, appId: AppId): Promise<readonly QuarantinedMessage[]> {
  const { entries } = quarantine.list(appId, ALL, 0, Number.POSITIVE_INFINITY);
  const decoder = new TextDecoder();
  const messages: QuarantinedMessage[] = [];
  for (const { id, keyId, reason, deviceId, index } of entries) {
    const { message } = (await quarantine.find(appId, id))!;
    const text = `${decodeURIComponent(message.query)} ${decoder.decode(message.body)}`;
    messages.push({ id, keyId, reason, deviceId: index === null ? null : deviceId, text });
  }
  return messages;
}
