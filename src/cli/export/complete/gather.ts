import type { KeyRecord } from "../../../auth/key-file.ts";
import type { Result } from "../../../lib/result.ts";
import type { AppId, DeviceId, UserId } from "../../../model/ids.ts";
import { EXPORT_FORMATS } from "../../../service/export/export-formats.ts";
import { countOf } from "../../screen/layout.ts";
import type { CompleteExport } from "../command.ts";
import type { ExportScreen } from "../screen.ts";
import { ExportFailedError, type ExportFrom } from "../source.ts";
import type { ExportedRange } from "../split-plan.ts";
import { countDevices } from "./count-devices.ts";
import type { DataFault, ListedCorrection, Members, RefusedSummary } from "./personal-data.ts";

/** The devices or the user that a complete export is about. */
export interface Subject {
  readonly deviceIds: readonly DeviceId[];
  /** Null if the subject is devices. */
  readonly userId: UserId | null;
}

/** All that an app stores about a subject, but for the records and the bodies of messages, which may be long. */
export interface Gathered {
  readonly appId: AppId;
  /** The devices of the subject; those of a user are the devices that reported for it and those of its keys. */
  readonly deviceIds: readonly DeviceId[];
  /** The records to write: as answers show them, and also as they were reported if corrections change that. */
  readonly recordSets: readonly RecordSet[];
  readonly profiles: readonly Members[];
  /** Null if they are missing. */
  readonly corrections: readonly ListedCorrection[] | null;
  readonly refused: readonly RefusedSummary[];
  /** Null if they are missing. */
  readonly keys: readonly KeyRecord[] | null;
  /** What the caller may not read. */
  readonly missing: readonly string[];
}

export interface RecordSet {
  readonly originals: boolean;
  /** Empty for a user, who selects the records. */
  readonly deviceIds: readonly DeviceId[];
}

interface Work {
  readonly command: CompleteExport;
  readonly source: ExportFrom;
  readonly screen: ExportScreen;
  readonly range: ExportedRange;
  readonly signal: AbortSignal;
}

/** Throws an `ExportFailedError` if nothing is stored about the subject, or if parts are withheld that must not be. */
export async function gather(work: Work): Promise<Gathered> {
  const { command, source } = work;
  const { data } = source;
  const { userId } = command;
  const missing: string[] = [];
  const appId = expected(await data.findApp());
  const allCorrections = unlessWithheld(await data.listCorrections(), missing);
  const allKeys =
    unlessWithheld(await data.listKeys(), missing)?.filter((key) => key.appId === appId) ?? null;
  refuseMissing(command, missing);
  const isActive = ({ state }: ListedCorrection) => state === "active";
  const mayDiffer = allCorrections?.some(isActive) === true;
  const ofRecords = await (userId === null
    ? findRecords(work, mayDiffer)
    : findRecordsOfUser(work, mayDiffer));
  const ofUser = allKeys?.filter((key) => userId !== null && key.userId === userId) ?? [];
  const bound = ofUser.flatMap(({ deviceId }) => (deviceId === null ? [] : [deviceId as DeviceId]));
  const deviceIds = [...new Set([...ofRecords.deviceIds, ...bound])];
  const isSubject = subjectTest({ deviceIds, userId });
  const corrections = allCorrections?.filter(isSubject.corrected) ?? null;
  const keys = allKeys?.filter(isSubject.bound) ?? null;
  const ids = new Set(keys?.map(({ id }) => id));
  const refused = expected(await data.listRefused()).filter(
    ({ key_id, device_id }) => isSubject.device(device_id) || (key_id !== undefined && ids.has(key_id)),
  );
  const long = refused.filter(({ body_bytes }) => body_bytes > data.bodyBytesMax).length;
  if (long > 0) missing.push(`the ends of ${countOf(long, "long message")} of the quarantine (${LONG_HINT})`);
  refuseMissing(command, missing);
  const profiles: Members[] = [];
  for (const device_id of deviceIds) {
    const profile = expected(await data.findProfile(device_id));
    if (profile !== null) profiles.push({ device_id, ...profile });
  }
  const hasOriginals = corrections?.some(isActive) === true;
  const recordSets = ofRecords.recordSets.filter(({ originals }) => !originals || hasOriginals);
  const parts = [recordSets, profiles, corrections ?? [], refused, keys ?? []];
  if (parts.every(({ length }) => length === 0)) throw new ExportFailedError(nothingText(command, appId));
  return { appId, deviceIds, recordSets, profiles, corrections, refused, keys, missing };
}

const LONG_HINT = "a server sends the first 64 KiB: stop it, and export in its directory without --url";

function refuseMissing({ isPartial }: CompleteExport, missing: readonly string[]): void {
  if (missing.length === 0 || isPartial) return;
  const parts = missing.join("; and ");
  throw new ExportFailedError(`The export would lack ${parts}. To export the rest give --partial.`);
}

interface FoundRecords {
  readonly deviceIds: readonly DeviceId[];
  readonly recordSets: readonly RecordSet[];
}

/** Which of the devices have records. A device may have none and still have a profile, say. */
async function findRecords({ command, source }: Work, mayDiffer: boolean): Promise<FoundRecords> {
  const deviceIds = [...new Set(command.deviceIds)];
  const recordSets: RecordSet[] = [];
  for (const originals of mayDiffer ? [false, true] : [false]) {
    const withRecords: DeviceId[] = [];
    for (const deviceId of deviceIds)
      if (expected(await source.data.hasRecords(deviceId, originals))) withRecords.push(deviceId);
    if (withRecords.length > 0) recordSets.push({ originals, deviceIds: withRecords });
  }
  return { deviceIds, recordSets };
}

/** Reads all records of the user, since nothing else knows the devices of earlier records. */
async function findRecordsOfUser(
  { command, source, screen, range, signal }: Work,
  mayDiffer: boolean,
): Promise<FoundRecords> {
  const format = EXPORT_FORMATS.find(({ name }) => name === "ndjson")!;
  const options = { ...command.options, zone: null };
  const deviceIds = new Set<DeviceId>();
  const recordSets: RecordSet[] = [];
  for (const originals of mayDiffer ? [false, true] : [false]) {
    const opened = await source.open({ ...range, deviceIds: [], originals }, { format, options });
    if (!opened.ok) throw new ExportFailedError(opened.error);
    const counts = await countDevices(opened.value.pieces(), (records) => {
      signal.throwIfAborted();
      screen.onSearched(records);
    });
    for (const deviceId of counts.deviceIds) deviceIds.add(deviceId);
    if (counts.records > 0) recordSets.push({ originals, deviceIds: [] });
  }
  return { deviceIds: [...deviceIds], recordSets };
}

function subjectTest({ deviceIds, userId }: Subject) {
  const devices = new Set<string>(deviceIds);
  const device = (id: string | null | undefined) => id !== null && id !== undefined && devices.has(id);
  const user = (id: string | null | undefined) => userId !== null && id === userId;
  return {
    device,
    corrected: ({ device_id, to_device_id, to_user_id }: ListedCorrection) =>
      device(device_id) || device(to_device_id) || user(to_user_id),
    /** Keys that report as the subject, and share links that show it. */
    bound: ({ deviceId, userId, view }: KeyRecord) =>
      device(deviceId) || user(userId) || view?.deviceIds.some(device) === true,
  };
}

function expected<Value>(result: Result<Value, DataFault>): Value {
  if (result.ok) return result.value;
  throw new ExportFailedError(result.error.sentence);
}

function unlessWithheld<Value>(result: Result<Value, DataFault>, missing: string[]): Value | null {
  if (result.ok || result.error.kind === "failed") return expected(result);
  missing.push(result.error.sentence);
  return null;
}

function nothingText({ deviceIds, userId }: CompleteExport, appId: AppId): string {
  return `App "${appId}" stores nothing about ${subjectText({ deviceIds, userId })}.`;
}

/** `device "a"`, `devices "a" and "b"`, `user "u"`. */
export function subjectText({ deviceIds, userId }: Subject): string {
  if (userId !== null) return `user "${userId}"`;
  const [first, ...others] = deviceIds.map((id) => `"${id}"`);
  const last = others.pop();
  return last === undefined ? `device ${first}` : `devices ${[first, ...others].join(", ")} and ${last}`;
}
