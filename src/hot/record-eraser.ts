import type { Steps } from "../lib/schedule/steps.ts";
import type { RecordMembers } from "../model/correction.ts";
import { type ErasedScope, isUnbounded } from "../model/erasure.ts";
import type { ErasureEntry, NewestOfDevice } from "../model/erasure-entry.ts";
import type { AppId, DeviceId, UserId } from "../model/ids.ts";
import type { AppDevices } from "./app-devices.ts";
import type { Apps } from "./apps.ts";
import type { DeviceProfiles } from "./device-profiles.ts";
import { NO_USER } from "./devices/users-of-app.ts";
import type { Erasures } from "./erasures.ts";
import type { AliasRows } from "./hidden/alias-rows.ts";
import { type CorrectedMemory, performEffect, showInSteps } from "./hidden/apply-correction.ts";
import type { NewestInDoubt } from "./hidden/newest-in-doubt.ts";
import { type Place, STEP_ROWS } from "./hidden/place.ts";
import type { ChangedPlace } from "./hidden/row-mover.ts";
import type { DayLedger } from "./late/day-ledger.ts";
import type { RecordWriter } from "./record-writer.ts";
import { profileAt, timestampAt } from "./records/chunk.ts";
import type { Dictionary } from "./records/dictionary.ts";

/** What an erasure changes in memory. */
export interface ErasedMemory extends CorrectedMemory {
  readonly apps: Apps;
  readonly ledger: DayLedger;
  readonly dictionary: Dictionary;
  readonly profiles: DeviceProfiles;
  readonly aliasRows: AliasRows;
  readonly erasures: Erasures;
  readonly records: RecordWriter;
  readonly inDoubt: NewestInDoubt;
}

/**
 * Destroys what memory has of an erasure's subject. A finished one may come again, behind reports that it covers: the
 * stream of a cluster has both for some time. Returns whether viewers are to be told.
 */
export function* applyErasure(memory: ErasedMemory, entry: ErasureEntry, sequence: number): Steps<boolean> {
  const { corrections, erasures } = memory;
  const isPending = erasures.add(entry.erasure, sequence);
  const areCorrectionsAfter = corrections.isAfter(sequence);
  const plan = areCorrectionsAfter ? "unknown" : isCurrent(memory, entry) ? "current" : "overtaken";
  const eraser = new RecordEraser(memory, entry, sequence, { isPending, plan });
  const { startMs } = entry.erasure.range;
  if (entry.erasure.continues)
    return isPending && (yield* showInSteps(memory.batches, eraser.setNewest(), sequence, startMs));
  const changes = areCorrectionsAfter ? eraser.eraseRecords() : eraser.erase();
  const isChanged = yield* showInSteps(memory.batches, changes, sequence, startMs);
  if (!areCorrectionsAfter) {
    const number = corrections.endErasure(entry.appId, sequence);
    erasures.noteRecent({ erasure: entry.erasure, number, isCurrent: plan === "current" });
  }
  return isChanged;
}

/** Whether no correction and no erasure came between the reading of the newest records and their entry. */
function isCurrent(
  { corrections, erasures }: Pick<ErasedMemory, "corrections" | "erasures">,
  { appId, previous, erasure }: ErasureEntry,
): boolean {
  const number = corrections.find(appId)?.number ?? 0;
  if (!erasure.continues) return previous === number;
  const first = erasures.findRecent(erasure.id);
  return first?.isCurrent === true && first.number === number;
}

/** What is known of the newest records that an entry names: `overtaken` ones may be erased or hidden by now. */
type Plan = "current" | "overtaken" | "unknown";

/** Devices that are visited in a step, some 100 ns each. */
const STEP_DEVICES = 8192;

/**
 * Yields after some rows each device among those that are visible whose records went; it is to be published. Yields
 * null where a step may end.
 */
class RecordEraser {
  readonly #memory: ErasedMemory;
  readonly #entry: ErasureEntry;
  readonly #sequence: number;
  readonly #appId: AppId;
  readonly #scope: ErasedScope;
  readonly #isPending: boolean;
  readonly #plan: Plan;

  constructor(
    memory: ErasedMemory,
    entry: ErasureEntry,
    sequence: number,
    { isPending, plan }: { readonly isPending: boolean; readonly plan: Plan },
  ) {
    this.#memory = memory;
    this.#entry = entry;
    this.#sequence = sequence;
    this.#appId = entry.appId;
    this.#scope = entry.erasure;
    this.#isPending = isPending;
    this.#plan = plan;
  }

  *erase(): Iterable<ChangedPlace | null> {
    yield* this.#dropHiddenNewest();
    yield* this.#dropCorrections();
    yield* this.eraseRecords();
  }

  /** Leaves corrections as they are. */
  *eraseRecords(): Iterable<ChangedPlace | null> {
    yield* this.#dropRecords();
    if (this.#isPending) yield* this.setNewest();
    const { deviceIds, userId, range } = this.#scope;
    if (userId === null && isUnbounded(range))
      this.#memory.profiles.erase(this.#appId, deviceIds, this.#sequence);
    for (const deviceId of deviceIds) yield* this.#touch(deviceId);
  }

  /**
   * Forgets erased records that were the newest archived ones before corrections hid them: undoing these would put them
   * in the place of those that show instead.
   */
  *#dropHiddenNewest(): Iterable<ChangedPlace | null> {
    const find = () => this.#memory.apps.findHidden(this.#appId);
    yield* this.#devicesOf(find, (deviceId) => {
      const app = find();
      const device = app?.find(deviceId) ?? null;
      return app === null || device === null
        ? []
        : this.#dropArchived({ app, device: device.number }, deviceId);
    });
  }

  /** Undoes the corrections of erased records, the newest first, and forgets them. */
  *#dropCorrections(): Iterable<ChangedPlace> {
    const { corrections } = this.#memory;
    const items = corrections.erasedBy(this.#scope, this.#entry.corrections);
    const borrowers = this.#findBorrowers();
    for (const item of items) {
      const effect = corrections.remove(this.#appId, item);
      if (effect !== null) yield* performEffect(this.#memory, effect, this.#sequence);
    }
    corrections.forget(this.#scope, items, borrowers);
  }

  /** The devices that erased ones show as, each with its own newest record if the entry names that. */
  #findBorrowers(): ReadonlyMap<DeviceId, RecordMembers | null> {
    const aliases = this.#memory.corrections.find(this.#appId)?.aliases;
    const ids = aliases?.shownIds(this.#scope.deviceIds) ?? [];
    const borrowers = new Map<DeviceId, RecordMembers | null>([...ids].map((deviceId) => [deviceId, null]));
    for (const newest of this.#entry.newest)
      if (borrowers.has(newest.deviceId) && this.#maySet(newest))
        borrowers.set(newest.deviceId, newest.record);
    return borrowers;
  }

  *#dropRecords(): Iterable<ChangedPlace | null> {
    const { apps } = this.#memory;
    for (const find of [
      () => apps.findHidden(this.#appId),
      () => apps.findAliased(this.#appId),
      () => apps.find(this.#appId),
    ])
      yield* this.#devicesOf(find, (deviceId) => this.#dropOf(find, deviceId));
  }

  /**
   * Drops what is erased of each device: for a user of all devices of a place, since it has no list of those whose
   * newest archived record is the user's.
   */
  *#devicesOf(
    find: () => AppDevices | null,
    drop: (deviceId: DeviceId) => Iterable<ChangedPlace>,
  ): Iterable<ChangedPlace | null> {
    if (this.#scope.userId === null) for (const deviceId of this.#scope.deviceIds) yield* drop(deviceId);
    else yield* this.#devicesOfUser(find, this.#scope.userId, drop);
  }

  *#devicesOfUser(
    find: () => AppDevices | null,
    userId: UserId,
    drop: (deviceId: DeviceId) => Iterable<ChangedPlace>,
  ): Iterable<ChangedPlace | null> {
    for (let device = 0; device < (find()?.table.numbersEnd ?? 0); device++) {
      if (device % STEP_DEVICES === STEP_DEVICES - 1) yield null;
      const app = find();
      if (app === null || !mayHaveRecordsOf(userId, app, device, this.#memory.dictionary)) continue;
      yield* drop(app.table.idOf(device));
    }
  }

  *#dropOf(find: () => AppDevices | null, deviceId: DeviceId): Iterable<ChangedPlace> {
    const { startMs, endMs } = this.#scope.range;
    for (let fromMs = startMs; ; ) {
      const app = find();
      const device = app?.find(deviceId) ?? null;
      if (app === null || device === null) return;
      const place = { app, device: device.number };
      const from = device.countBefore(fromMs);
      const to = Math.min(from + STEP_ROWS, device.countBefore(endMs));
      if (from >= to) {
        yield* this.#dropArchived(place, deviceId);
        return;
      }
      const times: number[] = [];
      device.runs(from, to, (chunk, rowFrom, rowTo) => {
        for (let row = rowFrom; row < rowTo; row++) {
          fromMs = timestampAt(chunk, row) + 1;
          if (this.#isErased(place, timestampAt(chunk, row), profileAt(chunk, row))) times.push(fromMs - 1);
        }
      });
      const gone = Float64Array.from(times);
      this.#removeCopies(place, deviceId, gone);
      this.#memory.mover.drop(place, gone);
      yield* this.#shown(place, deviceId, gone);
    }
  }

  /** Removes what another device shows of rows that are about to go: without them it would pass for its own. */
  #removeCopies({ app }: Place, deviceId: DeviceId, times: Float64Array): void {
    const { aliasRows, corrections } = this.#memory;
    if (!app.isAliased) return;
    const alias = corrections.find(this.#appId)?.aliases.of(deviceId) ?? null;
    if (alias !== null) aliasRows.removeCopies(aliasRows.place(this.#appId, alias.shownId), times);
  }

  /** Whether a row of memory is destroyed: those of corrections and copies go with what they show. */
  #isErased({ app, device }: Place, timestampMs: number, profile: number): boolean {
    const { corrected, copies } = app.table.columns;
    if (corrected.has(device, timestampMs) || copies?.has(device, timestampMs) === true) return false;
    return this.#isOfSubject(profile);
  }

  #isOfSubject(profile: number): boolean {
    const { userId } = this.#scope;
    if (userId === null) return true;
    const { dictionary } = this.#memory;
    const user = dictionary.findUser(userId); // No user, once no record of theirs is left.
    return user !== NO_USER && dictionary.userOf(profile) === user;
  }

  /** Forgets the newest archived record, unless it was archived after the erasure. */
  *#dropArchived({ app, device }: Place, deviceId: DeviceId): Iterable<ChangedPlace> {
    const archivedMs = app.table.columns.archivedTimes.of(device);
    const { startMs, endMs } = this.#scope.range;
    if (archivedMs < startMs || archivedMs >= endMs || archivedMs === Number.NEGATIVE_INFINITY) return;
    const { chunk, row } = app.archivedRows.at(device);
    if (app.borrowed.has(device) || !this.#isOfSubject(profileAt(chunk, row))) return;
    const isArchivedAnew = this.#memory.ledger.at(archivedMs).clearedSequence >= this.#sequence;
    if (isArchivedAnew && !this.#memory.mover.hasGivenNewest({ app, device })) return;
    app.archivedRows.remove(device);
    // A start without the checkpoint has it from files: one that is older, and not erased, may lie in others.
    if (this.#memory.records.showsAtEnd && !app.isHidden) this.#memory.inDoubt.add(this.#appId, deviceId);
    yield* this.#shown({ app, device }, deviceId, new Float64Array(0));
  }

  /** The device as which records show that went from a place, with what shows instead. */
  *#shown(place: Place, deviceId: DeviceId, times: Float64Array): Iterable<ChangedPlace> {
    const { dictionary, aliasRows, corrections } = this.#memory;
    dictionary.collect();
    if (place.app.isHidden) return;
    if (!place.app.isAliased) {
      yield { ...place, deviceId, rows: times.length, hasOtherNewest: false };
      return;
    }
    const alias = corrections.find(this.#appId)?.aliases.of(deviceId) ?? null;
    if (alias === null) return;
    const target = aliasRows.place(this.#appId, alias.shownId);
    aliasRows.giveBack(target);
    aliasRows.copyAgain(target, times);
    yield { ...target, deviceId: alias.shownId, rows: times.length, hasOtherNewest: true };
  }

  /** Whether answers may show a record that the entry names. */
  #maySet({ deviceId, record }: NewestOfDevice): boolean {
    if (this.#plan !== "overtaken") return this.#plan === "current";
    const { erasures, corrections } = this.#memory;
    const { user_id: user, timestamp } = record;
    const timestampMs = Number(timestamp);
    const userId = typeof user === "string" ? user : null;
    return (
      !erasures.isErasedSince(this.#entry.previous, this.#appId, { deviceId, userId, timestampMs }) &&
      corrections.find(this.#appId)?.isHidden(deviceId, timestampMs) !== true
    );
  }

  *setNewest(): Iterable<ChangedPlace> {
    const { apps, mover, corrections, records, inDoubt, erasures } = this.#memory;
    for (const newest of this.#entry.newest) {
      const { deviceId, record } = newest;
      if (!this.#maySet(newest)) {
        // A start finds it in the archive; else the node that made the erasure names it by another one.
        if (records.showsAtEnd) inDoubt.add(this.#appId, deviceId);
        else erasures.noteLost(this.#sequence, deviceId);
        continue;
      }
      const isAliased = (corrections.find(this.#appId)?.aliases.of(deviceId) ?? null) !== null;
      const app = isAliased ? apps.findOrAddAliased(this.#appId) : apps.findOrAdd(this.#appId);
      const place = { app, device: app.findOrAdd(deviceId) };
      mover.setNewest(place, deviceId, record);
      for (const changed of this.#shown(place, deviceId, new Float64Array(0)))
        yield { ...changed, hasOtherNewest: true };
    }
  }

  /** Answers about a device may differ although memory had nothing of what went. */
  *#touch(deviceId: DeviceId): Iterable<ChangedPlace> {
    const { apps, corrections } = this.#memory;
    const shownId = corrections.find(this.#appId)?.aliases.of(deviceId)?.shownId ?? deviceId;
    const app = apps.find(this.#appId);
    const device = app?.find(shownId) ?? null;
    if (app === null || device === null) return;
    yield { app, device: device.number, deviceId: shownId, rows: 0, hasOtherNewest: false };
  }
}

/** Whether a device has records of a user in memory, or of archived ones its newest is known as the user's. */
export function knowsRecordsOf(
  { apps, dictionary }: Pick<ErasedMemory, "apps" | "dictionary">,
  appId: AppId,
  userId: UserId,
  deviceId: DeviceId,
): boolean {
  const places = apps.placesOf(appId);
  return places.some((place) => mayHaveRecordsOf(userId, place, place.table.numberOf(deviceId), dictionary));
}

function mayHaveRecordsOf(
  userId: UserId,
  { table, archivedRows }: AppDevices,
  device: number,
  dictionary: Dictionary,
): boolean {
  const { ids, userCounts, archivedTimes } = table.columns;
  const user = dictionary.findUser(userId);
  if (user === NO_USER || !ids.has(device)) return false;
  if (userCounts.recordsOf(device, user) > 0) return true;
  if (archivedTimes.of(device) === Number.NEGATIVE_INFINITY) return false;
  const { chunk, row } = archivedRows.at(device);
  return dictionary.userOf(profileAt(chunk, row)) === user;
}
