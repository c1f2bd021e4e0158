import { basename, dirname, join, relative } from "node:path";
import { crc32 } from "node:zlib";
import { type AccessDependencies, eraseAccess, findAccess } from "../../auth/erase-access.ts";
import { isAcknowledgedList } from "../../directory/damaged-files.ts";
import type { HeldErasure } from "../../hot/erasures.ts";
import { assert } from "../../lib/assert.ts";
import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import type { Timers } from "../../lib/schedule/timers.ts";
import { isUnbounded } from "../../model/erasure.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import { type Files, putDurably } from "../../runtime/files.ts";
import { eraseMessages } from "../quarantine/erase-messages.ts";
import type { Quarantine } from "../quarantine/quarantine.ts";
import type { EventStore } from "../watching/event-store.ts";
import { eraseEvents } from "../watching/remove-events.ts";
import type { ReportBuilder } from "./report-builder.ts";

/* What of an erasure's subject is neither in the log nor in the archive. */

export interface ElsewhereDependencies {
  /** Undefined if the keys are not known; then it rejects. */
  readonly access: AccessDependencies | undefined;
  readonly quarantine: Pick<Quarantine, "list" | "find" | "delete">;
  readonly files: Pick<
    Files,
    "exists" | "isFile" | "list" | "read" | "readPieces" | "remove" | "removeAll" | "syncDirectory"
  >;
  readonly events: EventStore;
  readonly scheduler: Pick<Scheduler, "run">;
  readonly timers: Timers;
  readonly hasRecords: (appId: AppId, deviceId: DeviceId) => boolean;
  /** Forgets that fences and alerts have not seen a device as it is now. */
  readonly dropMark: (appId: AppId, deviceId: DeviceId) => void;
  readonly damagedDirectory: string;
  /** The apps that have records in a damaged file; null if that is not known. */
  readonly appsOfDamaged: (name: string) => ReadonlySet<AppId> | null;
  /** Files and folders of a node from before it was one, which it never reads. */
  readonly pathsBeforeCluster: readonly string[];
  /** Forgets what is known of a device, or of all devices of an app, beside their records. */
  readonly forget: (appId: AppId, deviceId: DeviceId | null) => void;
  /** Forgets requests to webhooks about it. */
  readonly forgetDeliveries: (erasure: HeldErasure) => Promise<unknown>;
}

/**
 * Removes what is neither in the log nor in the archive: messages of the quarantine, keys, what the doctor knows,
 * damaged files, and what a node has from before it was one. Repeating it removes what an attempt that failed has left.
 * Rejects if something can't be removed.
 */
export function createEraseElsewhere(dependencies: ElsewhereDependencies) {
  return async function eraseElsewhere(
    erasure: HeldErasure,
    dropsDamaged: boolean,
    report: ReportBuilder,
  ): Promise<void> {
    const { access } = dependencies;
    assert(access !== undefined, "who starts an eraser gives it the keys");
    // Messages first: a key tells whose some are.
    await eraseQuarantined(access, dependencies.quarantine, erasure, report);
    // A device that loses only a range of time keeps its keys.
    if (isUnbounded(erasure.range)) await eraseKeys(access, erasure, report);
    const { appId, deviceIds, userId } = erasure;
    // A user may have reported with any.
    for (const deviceId of userId === null ? deviceIds : [null]) dependencies.forget(appId, deviceId);
    await dependencies.forgetDeliveries(erasure);
    await eraseStoredEvents(dependencies, erasure, report);
    await eraseDamaged(dependencies, erasure.appId, dropsDamaged, report);
    for (const path of dependencies.pathsBeforeCluster) await eraseAll(dependencies.files, path, report);
  };
}

function subjectsOf({ appId, deviceIds, userId }: HeldErasure) {
  return userId === null
    ? deviceIds.map((id) => ({ kind: "device", appId, id }) as const)
    : [{ kind: "user", appId, id: userId } as const];
}

async function eraseQuarantined(
  access: AccessDependencies,
  quarantine: ElsewhereDependencies["quarantine"],
  erasure: HeldErasure,
  report: ReportBuilder,
): Promise<void> {
  const { appId, userId, sequence } = erasure;
  const keyIds: string[] = [];
  for (const subject of subjectsOf(erasure)) keyIds.push(...(await findAccess(access, subject)).keyIds);
  const { deviceIds } = erasure;
  const erased = await eraseMessages(quarantine, { appId, deviceIds, userId, keyIds, sequence });
  if (!erased.ok) throw new Error("the messages of the quarantine can't be deleted now");
  const { ids, bytes, unsearched } = erased.value;
  report.add("quarantine", ids.length, bytes);
  for (const name of unsearched) report.addRemaining(join("quarantine", name), "the message can't be read");
}

async function eraseKeys(
  access: AccessDependencies,
  erasure: HeldErasure,
  report: ReportBuilder,
): Promise<void> {
  for (const subject of subjectsOf(erasure)) {
    const erased = await eraseAccess(access, subject);
    if (!erased.ok) throw new Error(`the keys can't be revoked now (${erased.error.kind})`);
    const { keyIds, linkIds, passPhraseKeyIds } = erased.value;
    report.add("keys", keyIds.length + linkIds.length + passPhraseKeyIds.length);
  }
}

/** A helper that checkpoints the database needs a moment, a backup some seconds. */
const TRIES_MAX = 50;
const RETRY_MS = 200;

async function eraseStoredEvents(
  { events, scheduler, timers, hasRecords, dropMark }: ElsewhereDependencies,
  erasure: HeldErasure,
  report: ReportBuilder,
): Promise<void> {
  const { appId, deviceIds } = erasure;
  const gone = deviceIds.filter((deviceId) => !hasRecords(appId, deviceId));
  for (const deviceId of gone) dropMark(appId, deviceId); // Else the next seal would write it into the database again.
  report.add("events", await scheduler.run(appId, eraseEvents(events, erasure, gone)));
  for (let tries = 1; !events.checkpoint(); tries++) {
    if (tries === TRIES_MAX) throw new Error("another process reads the database of events");
    await new Promise<void>((resolve) => timers.after(RETRY_MS, resolve));
  }
}

async function eraseDamaged(
  { files, damagedDirectory, appsOfDamaged }: ElsewhereDependencies,
  appId: AppId,
  dropsDamaged: boolean,
  report: ReportBuilder,
): Promise<void> {
  if (!(await files.exists(damagedDirectory))) return;
  for (const name of await files.list(damagedDirectory)) {
    if (isAcknowledgedList(name) || appsOfDamaged(name)?.has(appId) === false) continue;
    const path = join(damagedDirectory, name);
    const file = join(basename(damagedDirectory), name);
    if (!dropsDamaged) {
      report.addRemaining(
        file,
        "it can't be read whole, so it was not searched; erase --drop-damaged deletes it",
      );
      continue;
    }
    const bytes = await files.read(path);
    await files.remove(path);
    report.add("damaged", 1, bytes.length, [{ file, before: crc32(bytes), after: null }]);
  }
}

/** Removes a file or a folder as a whole, durably: it is not used. */
async function eraseAll(
  files: ElsewhereDependencies["files"],
  path: string,
  report: ReportBuilder,
): Promise<void> {
  if (!(await files.exists(path))) return;
  const parent = dirname(path);
  for (const file of await listFiles(files, path)) {
    let [crc, bytes] = [0, 0];
    for await (const piece of files.readPieces(file)) {
      crc = crc32(piece, crc);
      bytes += piece.length;
    }
    report.add("before_cluster", 1, bytes, [{ file: relative(parent, file), before: crc, after: null }]);
  }
  await putDurably(
    () => files.removeAll(path),
    () => files.syncDirectory(parent),
  );
}

async function listFiles(files: Pick<Files, "isFile" | "list">, path: string): Promise<readonly string[]> {
  if (await files.isFile(path)) return [path];
  const all: string[] = [];
  for (const name of await files.list(path)) all.push(...(await listFiles(files, join(path, name))));
  return all;
}
