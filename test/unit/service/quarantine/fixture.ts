import { decodeStanding, encodeStanding } from "../../../../src/archive/standing-file.ts";
import type { RefusedMessage } from "../../../../src/clients/refused-message.ts";
import { createHotStore } from "../../../../src/hot/hot-store.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import { inTurns } from "../../../../src/lib/schedule/steps.ts";
import { systemTimers } from "../../../../src/lib/schedule/timers.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import type { QuarantineEntry } from "../../../../src/model/quarantine-entry.ts";
import type { StandingEntry } from "../../../../src/model/standing-entry.ts";
import { type Files, readIfThere } from "../../../../src/runtime/files.ts";
import { applyToMemory } from "../../../../src/service/ingest/apply-entry.ts";
import { followLog } from "../../../../src/service/ingest/memory-follower.ts";
import {
  createQuarantineAppend,
  createStandingAppend,
} from "../../../../src/service/ingest/standing-append.ts";
import { type MessageStore, openMessages } from "../../../../src/service/quarantine/message-store.ts";
import { Quarantine, type QuarantineOptions } from "../../../../src/service/quarantine/quarantine.ts";
import type { ShareBounds } from "../../../../src/service/quarantine/shares.ts";
import type { Wal } from "../../../../src/wal/log.ts";
import { openWal } from "../../../../src/wal/wal.ts";
import { NO_SEALS } from "../../../support/empty-archive.ts";
import { seededSalts } from "../../../support/seeded-random.ts";

export const APP = "app" as AppId;
export const DIRECTORY = "/data/quarantine";
export const DAMAGED = "/data/damaged";
export const ANY = { client: null, reason: null, deviceId: null };
const STANDING = "/data/standing";

const encoder = new TextEncoder();

/** A message that differs from others in its body and the device. */
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

export interface TestQuarantineOptions extends Partial<Omit<QuarantineOptions, "messages" | "append">> {
  readonly shares?: ShareBounds;
  readonly segmentBytesMax?: number;
}

/** The messages of a disk, with a file in place of the archive's standing entries. */
export async function openStandingMessages(files: Files, shares: ShareBounds | undefined) {
  const standing = await readIfThere(files, STANDING);
  const restored: QuarantineEntry[] = [];
  const onEntry = (entry: StandingEntry) => {
    switch (entry.kind) {
      case "refused_piece":
      case "refused_deletion":
      case "refused_arrivals":
        restored.push(entry);
    }
  };
  const decoded = standing === null ? null : await inTurns(decodeStanding(standing, STANDING, onEntry));
  const coveredSequence = decoded?.sequence ?? 0;
  const { messages, damage } = await openMessages({
    files,
    directory: DIRECTORY,
    damagedDirectory: DAMAGED,
    coveredSequence,
    ...(shares === undefined ? {} : { shares }),
  });
  for (const entry of restored) messages.restore(entry);
  messages.endRestore(coveredSequence);
  return { messages, damage, coveredSequence };
}

/** Does for the quarantine what a seal does. Throws a `FileError`. */
export async function sealMessages(files: Files, messages: MessageStore, wal: Wal): Promise<void> {
  await wal.rotate();
  const { entries, sequence } = messages.snapshot();
  await messages.files.sync();
  const { bytes } = await inTurns(encodeStanding(entries, sequence, seededSalts(7)));
  await files.makeDirectory("/data");
  await files.replace(STANDING, bytes);
  await wal.trim({ isCovered: () => true, isExpired: () => false, standingSequence: sequence, erasures: [] });
  messages.noteCovered(sequence);
}

/** A quarantine over a log of its own. */
export async function openTestQuarantine(files: Files, options: TestQuarantineOptions = {}) {
  const { scheduler = new Scheduler(() => 0), shares, segmentBytesMax = 16 * 1024 } = options;
  const { messages, damage, coveredSequence } = await openStandingMessages(files, shares);
  const hot = createHotStore(scheduler);
  const { wal } = await openWal({
    files,
    directory: "/data/quarantine-wal",
    damagedDirectory: DAMAGED,
    segmentBytesMax,
    queueBytesMax: 1_000_000,
    sequenceMin: coveredSequence + 1,
    createSalt: seededSalts(7),
    onEntry: (entry) => applyToMemory({ hot, messages }, entry),
  });
  const memory = followLog({ log: wal, hot, messages, schedule: NO_SEALS, scheduler });
  const quarantine = new Quarantine({
    append: createQuarantineAppend(createStandingAppend({ log: wal, memory, onRefusal: () => {} })),
    hasFailed: () => wal.state === "failed",
    entryBytesMax: wal.entryBytesMax,
    source: "",
    scheduler,
    timers: systemTimers,
    sealSoon: () => {},
    ...options,
    messages,
  });
  const seal = () => sealMessages(files, messages, wal);
  const close = async () => {
    await quarantine.close();
    await wal.close();
  };
  return { quarantine, messages, damage, wal, seal, close };
}

export type TestQuarantine = Awaited<ReturnType<typeof openTestQuarantine>>;

/** Bodies of all entries of an app, the newest first, as they are read from the disk. */
export async function bodies(
  { quarantine }: { readonly quarantine: Pick<Quarantine, "list" | "find"> },
  appId = APP,
): Promise<string[]> {
  const { entries } = quarantine.list(appId, ANY, 0, 1000);
  const found = await Promise.all(entries.map(({ id }) => quarantine.find(appId, id)));
  return found.map((entry) => new TextDecoder().decode(entry!.message.body));
}
