import type { LedgerEntry } from "../phone/ledger.ts";
import type { Phone } from "../phone/phone.ts";
import { belongsIn, type Point } from "../phone/point.ts";
import type { QuarantinedMessage } from "./quarantine.ts";
import type { StoredRecord } from "./store.ts";

/** What the server shows of an app in the end. */
export interface Kept {
  readonly records: readonly StoredRecord[];
  readonly quarantine: readonly QuarantinedMessage[];
}

/** What became of a phone's points. */
export interface PhoneSummary {
  readonly name: string;
  readonly made: number;
  readonly stored: number;
  readonly quarantined: number;
  /** By the client's own rule, and nowhere: how many by each. */
  readonly lost: ReadonlyMap<string, number>;
  /** Sends beyond the first of each point. */
  readonly resent: number;
  /** What it was answered, by status. */
  readonly answers: ReadonlyMap<string, number>;
}

export interface Judgement {
  readonly phones: readonly PhoneSummary[];
  /** A line each; none where all is as it must be. */
  readonly faults: readonly string[];
}

/** Most of what goes wrong goes wrong often; the first few of a phone tell it. */
const FAULTS_A_PHONE = 5;

/**
 * Holds what every phone knows of its points against what is kept: each is in the store, in the quarantine, or lost by
 * a rule of its client that no answer could have helped; and nothing is kept that its phone did not send.
 */
export function judge(
  phones: readonly Phone[],
  keptOf: ReadonlyMap<string, Kept>,
  vandalsKeyId: string,
): Judgement {
  const deviceIds = new Set(phones.map(({ deviceId }) => deviceId));
  const judged = phones.map((phone) => judgePhone(phone, keptOf.get(phone.appId)!, deviceIds));
  const faults = judged.flatMap(({ summary, faults }) => faults.map((fault) => `${summary.name}: ${fault}`));
  return {
    phones: judged.map(({ summary }) => summary),
    faults: [
      ...faults,
      ...[...keptOf].flatMap(([appId, kept]) => findStrays(phones, appId, kept, vandalsKeyId)),
    ],
  };
}

function judgePhone(phone: Phone, kept: Kept, deviceIds: ReadonlySet<string>) {
  const { name, ledger, witness, deviceId } = phone;
  const records = new Map(
    kept.records
      .filter(({ device_id }) => device_id === deviceId)
      .map((record) => [record.timestamp, record]),
  );
  const messages = kept.quarantine.filter(({ keyId }) => phone.keyIds.has(keyId));
  const faults: string[] = [];
  const lost = new Map<string, number>();
  let stored = 0;
  let quarantined = 0;
  for (const entry of ledger.entries) {
    const place = findPlace(phone, entry.point, records, messages);
    if (place === "store") stored++;
    else if (place === "quarantine") quarantined++;
    else if (entry.fate.kind === "lost") lost.set(entry.fate.rule, (lost.get(entry.fate.rule) ?? 0) + 1);
    const fault = faultOf(entry, place);
    if (fault !== null) faults.push(`point ${entry.point.number} (${entry.point.kind}) ${fault}`);
  }
  for (const record of records.values())
    faults.push(`has a record that it never sent: ${JSON.stringify(record)}`);
  for (const message of messages) {
    const fault = faultOfMessage(phone, message, deviceIds);
    if (fault !== null) faults.push(fault);
  }
  const made = ledger.entries.length;
  const resent = ledger.entries.reduce((sum, { sends }) => sum + Math.max(0, sends - 1), 0);
  const told = [...witness.faults, ...faults.slice(0, FAULTS_A_PHONE)];
  return {
    summary: { name, made, stored, quarantined, lost, resent, answers: witness.counts },
    faults: told,
  };
}

type Place = ReturnType<typeof belongsIn> | "wrong place";

/** Where the point is; its record is taken from the others. */
function findPlace(
  { app }: Phone,
  point: Point,
  records: Map<number, StoredRecord>,
  messages: readonly QuarantinedMessage[],
): Place {
  if (belongsIn(point) === "quarantine")
    return messages.some(({ text }) => text.includes(app.markOf(point))) ? "quarantine" : "nowhere";
  const record = records.get(point.timestampMs);
  if (belongsIn(point) === "nowhere" || record === undefined) return "nowhere";
  records.delete(point.timestampMs);
  return isSame(record, point) ? "store" : "wrong place";
}

const DEGREES_OFF_MAX = 1e-5; // OsmAnd has 32-bit floats.
const SPEED_OFF_MAX = 0.6; // Overland rounds to whole m/s, OwnTracks cuts to whole km/h; another unit is far off.

function isSame({ latitude, longitude, speed }: StoredRecord, point: Point): boolean {
  const isNear = (a: number, b: number, offMax: number) => Math.abs(a - b) <= offMax;
  return (
    isNear(latitude, point.latitude, DEGREES_OFF_MAX) &&
    isNear(longitude, point.longitude, DEGREES_OFF_MAX) &&
    (speed === undefined || isNear(speed, point.speedMps, SPEED_OFF_MAX))
  );
}

/** What is wrong with a point's being there; null where nothing is. */
function faultOf({ point, fate, sends }: LedgerEntry, place: Place): string | null {
  if (place === "wrong place") return "is stored with another place or speed";
  if (fate.kind === "lost" && fate.isServersFault)
    return `was ${fate.rule} after ${Math.round(fate.atMs)} ms, for an answer that was not needed`;
  if (fate.kind === "waiting") return `is still queued after ${sends} sends: the phone is jammed`;
  if (fate.kind === "taken" && place !== belongsIn(point)) return `was acknowledged, and is ${place}`;
  return null;
}

function faultOfMessage(
  { app, ledger, deviceId: ownId }: Phone,
  { id, reason, text, deviceId }: QuarantinedMessage,
  deviceIds: ReadonlySet<string>,
): string | null {
  const isOwn = ledger.entries.some(
    ({ point }) => belongsIn(point) === "quarantine" && text.includes(app.markOf(point)),
  );
  if (!isOwn) return `has ${id} in quarantine for ${reason}, which is none of its bad points`;
  if (deviceId === null || deviceId === ownId || !deviceIds.has(deviceId)) return null;
  return `has ${id} in quarantine under another phone's device, ${deviceId}`;
}

/** What is kept of devices and keys that no phone has. */
function findStrays(
  phones: readonly Phone[],
  appId: string,
  { records, quarantine }: Kept,
  vandalsKeyId: string,
): string[] {
  const own = phones.filter((phone) => phone.appId === appId);
  const deviceIds = new Set(own.map(({ deviceId }) => deviceId));
  const strangers = new Set(records.map(({ device_id }) => device_id).filter((id) => !deviceIds.has(id)));
  const stray = quarantine.filter(
    ({ keyId }) => keyId !== vandalsKeyId && !own.some(({ keyIds }) => keyIds.has(keyId)),
  );
  return [
    ...[...strangers].map((id) => `${appId} has the device ${id}, which no phone is`),
    ...stray.map(
      ({ id, keyId }) => `${appId} has ${id} in quarantine, of the key ${keyId}, which no phone has`,
    ),
  ];
}
