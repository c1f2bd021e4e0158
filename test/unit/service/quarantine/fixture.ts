import type { RefusedMessage } from "../../../../src/clients/refused-message.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import type { Files } from "../../../../src/runtime/files.ts";
import {
  type OpenedQuarantine,
  openQuarantine,
  type QuarantineOptions,
} from "../../../../src/service/quarantine/open-quarantine.ts";
import type { Quarantine } from "../../../../src/service/quarantine/quarantine.ts";
import { seededSalts } from "../../../support/seeded-random.ts";

export const APP = "app" as AppId;
export const DIRECTORY = "/data/quarantine";
export const DAMAGED = "/data/damaged";
export const ANY = { client: null, reason: null, deviceId: null };

const encoder = new TextEncoder();

/** A message that differs from others in its body alone, but for what is told. */
export function refused(body: string, changes: Partial<RefusedMessage> = {}): RefusedMessage {
  return {
    appId: APP,
    keyId: "key_1",
    client: "overland",
    reason: "bad_coordinates",
    arrivedMs: 1_795_000_000_000,
    method: "POST",
    path: "/ingest/overland",
    deviceId: body,
    device: null,
    user: null,
    basicUser: null,
    topic: null,
    speedUnit: null,
    headers: { "user-agent": "Overland" },
    query: "",
    body: encoder.encode(body),
    isCut: false,
    index: 0,
    ...changes,
  };
}

/** Segments of some kilobytes behind their heads, so that tests have several. */
export function openTestQuarantine(
  files: Files,
  options: Partial<QuarantineOptions> = {},
): Promise<OpenedQuarantine> {
  return openQuarantine({
    files,
    directory: DIRECTORY,
    damagedDirectory: DAMAGED,
    scheduler: new Scheduler(),
    segmentBytesMax: 4144 + 2048,
    createSalt: seededSalts(7),
    onDamage: () => {},
    ...options,
  });
}

/** Bodies of all entries of an app, the newest first, as they are read from the disk. */
export async function bodies(
  { quarantine }: { readonly quarantine: Pick<Quarantine, "list" | "find"> },
  appId = APP,
): Promise<string[]> {
  const { entries } = quarantine.list(appId, ANY, 0, 1000);
  const found = await Promise.all(entries.map(({ id }) => quarantine.find(appId, id)));
  return found.map((entry) => new TextDecoder().decode(entry!.message.body));
}
