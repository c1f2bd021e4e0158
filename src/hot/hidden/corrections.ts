import { joinedNumbers } from "../../lib/tables/sorted-numbers.ts";
import { isOwn, type RecordMembers, UNDONE_CORRECTIONS_MAX } from "../../model/correction.ts";
import type {
  Assignment,
  CorrectionEntry,
  CorrectionPiece,
  LastMembers,
  NewestAfter,
  Undo,
} from "../../model/correction-entry.ts";
import { type ErasedScope, isErased } from "../../model/erasure.ts";
import type { AppId, DeviceId, UserId } from "../../model/ids.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import {
  assignedTo,
  CorrectionsOfApp,
  devicesOf,
  type HeldCorrection,
  isAboutAny,
  lastNeededMs,
  sourceIndex,
  targetTimes,
} from "./held-correction.ts";
import type { Instants } from "./instants.ts";
import { type ReadRows, standingEntries } from "./standing-entries.ts";

/** What an entry changes: of the records that memory shows, and then of the corrections. */
export interface CorrectionEffect extends NewestAfter {
  readonly type: "make" | "undo";
  readonly appId: AppId;
  /** The correction while it is active. */
  readonly item: HeldCorrection;
  /** The correction as it is afterwards. */
  readonly itemAfter: HeldCorrection;
  /** Reported records that go out of sight; those of an undoing come back. */
  readonly hidden: readonly DeviceTimes[];
  /** Times of the correction's device at which an earlier correction's row goes, or comes back. */
  readonly covered: Float64Array;
  /** The rows that show instead of the records, in pieces; none for an undoing. */
  readonly rows: readonly ReportBatch[];
}

/** The assignment of a device, or its undoing. */
export interface AliasEffect extends NewestAfter {
  readonly type: "assign" | "unassign";
  readonly appId: AppId;
  /** The correction while it is active. */
  readonly item: HeldCorrection;
  /** The correction as it is afterwards. */
  readonly itemAfter: HeldCorrection;
}

export type Effect = CorrectionEffect | AliasEffect;

export function isAliasEffect(effect: Effect): effect is AliasEffect {
  return effect.type === "assign" || effect.type === "unassign";
}

/** Sorted instants of a device. */
export interface DeviceTimes {
  readonly deviceId: DeviceId;
  /** Where the correction touches them. */
  readonly stage: DeviceId;
  readonly timestampMs: Float64Array;
}

/**
 * The corrections of all apps: a layer over the records of log, memory and archive. They change only by entries of the
 * log, so replay and live traffic build the same.
 */
export class Corrections {
  readonly #byApp = new Map<AppId, CorrectionsOfApp>();
  /** The last entry that is in here, or in the archive's file from which these were restored. */
  #sequence = 0;
  #mergedSequence = 0;

  /** The last entry that changed anything that a file of the archive must have. */
  get sequence(): number {
    return Math.max(this.#sequence, this.#mergedSequence);
  }

  /** The last entry whose reports were merged into corrected rows. */
  get mergedSequence(): number {
    return this.#mergedSequence;
  }

  find(appId: AppId): CorrectionsOfApp | null {
    return this.#byApp.get(appId) ?? null;
  }

  /** An app's corrections, newest first: of one device, or in one state, unless these are null. */
  list(appId: AppId, deviceId: string | null, isActive: boolean | null): readonly HeldCorrection[] {
    const all = [...(this.#byApp.get(appId)?.byId.values() ?? [])];
    return all
      .filter(
        ({ correction, ...item }) =>
          (deviceId === null || devicesOf(correction).some((each) => each === deviceId)) &&
          (isActive === null || item.isActive === isActive),
      )
      .reverse();
  }

  apps(): Iterable<readonly [AppId, CorrectionsOfApp]> {
    return this.#byApp;
  }

  /** The hidden instants of a device; null if it has none. */
  hiddenOf(appId: AppId, deviceId: DeviceId): Instants | null {
    return this.#byApp.get(appId)?.hidden.get(deviceId) ?? null;
  }

  /** Notes that reports of an entry were merged into corrected rows. */
  noteMerged(sequence: number): void {
    this.#mergedSequence = sequence;
  }

  /**
   * Applies an entry of the log, less its effect, which is returned: null if it has none, or none yet. An effect ends
   * with `commit()`; until then these are the corrections before the entry.
   */
  apply({ appId, previous, change }: CorrectionEntry, sequence: number): Effect | null {
    if (sequence <= this.#sequence) return null;
    const app = this.#findOrAdd(appId);
    // Entries that a restored file has already name an earlier number, so they have no effect here either.
    const hasEffect = change.type !== "number" && previous === app.number;
    const effect = hasEffect ? effectOf(app, appId, previous, change) : null;
    if (effect === null) this.#sequence = sequence;
    else app.underWay = effect.item;
    return effect;
  }

  /** Notes a step of an effect, or of an erasure. */
  noteMove(appId: AppId): void {
    this.#findOrAdd(appId).moves++;
  }

  /** Makes the alias of an assignment valid, or that of an undoing invalid, before `commit()`. */
  link({ type, appId, item }: AliasEffect): void {
    const { aliases } = this.#findOrAdd(appId);
    const { number, correction } = item;
    const { id, deviceId, target } = correction;
    const [toId, userId] = [assignedTo(correction), target!.userId as UserId | null];
    if (type === "assign") aliases.add(deviceId, { id, number, toId, userId });
    else aliases.remove(deviceId);
  }

  /** Ends the effect of an entry. */
  commit(effect: Effect, sequence: number): void {
    this.#sequence = sequence;
    const app = this.#findOrAdd(effect.appId);
    change(app, effect);
    app.underWay = null;
    app.number++;
    app.sequence = sequence;
    for (const [id, waiting] of app.pending) if (waiting.previous < app.number) app.pending.delete(id);
  }

  /** The active corrections all of whose records are older than this, unless they are empty already; the last first. */
  *expired(beforeMs: number): Iterable<readonly [AppId, HeldCorrection]> {
    for (const [appId, app] of this.#byApp) {
      for (const item of [...app.byId.values()].reverse()) {
        const { correction, isActive, timestampMs } = item;
        if (isActive && timestampMs.length > 0 && lastNeededMs(correction) < beforeMs) yield [appId, item];
      }
    }
  }

  /**
   * Empties a correction all of whose records are gone: it stays active, and touches nothing any more. Returns the
   * effect on what memory has of it, which is that of its undoing; null if it has changed meanwhile.
   */
  empty(appId: AppId, item: HeldCorrection): CorrectionEffect | null {
    const app = this.#findOrAdd(appId);
    const { id } = item.correction;
    if (app.underWay !== null || app.byId.get(id) !== item) return null;
    const itemAfter = { ...item, timestampMs: NONE, rowsUpTo: [], ...NONE_NEWER };
    const effect = effectOfUndo(app, appId, item, itemAfter, NONE_NEWER);
    app.records -= item.timestampMs.length;
    app.replace(item, itemAfter);
    hideAll(app, item, -1);
    return effect;
  }

  /** Whether these are corrections after this entry, since the archive's file was written after it. */
  isAfter(sequence: number): boolean {
    return sequence <= this.#sequence;
  }

  /**
   * The corrections that go with what an erasure destroys, the last first: those about its devices, and those with some
   * ids.
   */
  erasedBy({ appId, deviceIds, range }: ErasedScope, ids: readonly string[]): HeldCorrection[] {
    const [devices, listed] = [new Set(deviceIds), new Set(ids)];
    const all = [...(this.#byApp.get(appId)?.byId.values() ?? [])];
    return all.filter((item) => listed.has(item.correction.id) || isAboutAny(item, devices, range)).reverse();
  }

  /** Begins to undo an active correction that goes for good. Ends with `commit()`; null if it is not active. */
  remove(appId: AppId, item: HeldCorrection): Effect | null {
    const app = this.#findOrAdd(appId);
    const effect = undo(app, appId, app.number, { type: "undo", id: item.correction.id, ...NONE_NEWER });
    if (effect !== null) app.underWay = effect.item;
    return effect;
  }

  /**
   * Forgets corrections that are not active any more, pieces of those that are not whole, and of other corrections the
   * newest record after them, if that is erased. `borrowers` are the devices that erased ones showed as, each with its
   * own newest record. It replaces every record of such a device that is not marked as its own, and so may be erased.
   */
  forget(
    scope: ErasedScope,
    items: readonly HeldCorrection[],
    borrowers: ReadonlyMap<DeviceId, RecordMembers | null>,
  ): void {
    const app = this.#findOrAdd(scope.appId);
    const left = (record: RecordMembers | null, deviceId: DeviceId) => {
      if (record === null) return null;
      if (!isOwn(record) && borrowers.has(deviceId)) return borrowers.get(deviceId)!;
      return unlessErased(record, deviceId, scope);
    };
    for (const { correction } of items) app.byId.delete(correction.id);
    for (const item of [...app.byId.values()]) {
      const { deviceId, target } = item.correction;
      const newest = left(item.newest, deviceId);
      const newestOfTarget = target === null ? null : left(item.newestOfTarget, target.deviceId);
      if (newest !== item.newest || newestOfTarget !== item.newestOfTarget)
        app.replace(item, { ...item, newest, newestOfTarget });
    }
    app.pending.clear();
  }

  /**
   * Ends an erasure, in the turn in which its entry counts as applied. It takes a number, so that a correction which
   * another node has made of records that were not erased yet has no effect. Returns the number.
   */
  endErasure(appId: AppId, sequence: number): number {
    const app = this.#findOrAdd(appId);
    app.number++;
    app.sequence = sequence;
    this.#sequence = sequence;
    return app.number;
  }

  /** Puts an entry of the archive's file back, before any entry of the log. Returns its effect, or null. */
  restore({ appId, previous, change: restored }: CorrectionEntry): Effect | null {
    const app = this.#findOrAdd(appId);
    if (restored.type === "number") {
      app.number = previous;
      return null;
    }
    const effect = effectOf(app, appId, previous, restored);
    if (effect !== null) change(app, effect);
    if (effect !== null && isAliasEffect(effect)) this.link(effect);
    return effect;
  }

  /** Ends the restoring: entries up to this one are in here. */
  endRestore(sequence: number): void {
    this.#sequence = sequence;
  }

  /** All corrections as entries for a file, as they are now; rows are read when their entry is. */
  entries(readRows: ReadRows): Iterable<CorrectionEntry> {
    return standingEntries(this.#byApp, readRows);
  }

  #findOrAdd(appId: AppId): CorrectionsOfApp {
    let app = this.#byApp.get(appId);
    if (app === undefined) {
      app = new CorrectionsOfApp();
      this.#byApp.set(appId, app);
    }
    return app;
  }
}

function unlessErased(record: RecordMembers, deviceId: DeviceId, scope: ErasedScope): RecordMembers | null {
  const { user_id: userId, timestamp } = record;
  const user = typeof userId === "string" ? userId : null;
  return isErased(scope, deviceId, user, Number(timestamp)) ? null : record;
}

function effectOf(
  app: CorrectionsOfApp,
  appId: AppId,
  previous: number,
  entry: CorrectionPiece | Assignment | Undo,
): Effect | null {
  if (entry.type === "undo") return undo(app, appId, previous, entry);
  return entry.type === "assign"
    ? assign(app, appId, previous, entry)
    : addPiece(app, appId, previous, entry);
}

function assign(
  app: CorrectionsOfApp,
  appId: AppId,
  previous: number,
  { id, correction }: Assignment,
): AliasEffect | null {
  if (app.byId.has(id)) return null;
  const after = { newest: null, newestOfTarget: null };
  const item: HeldCorrection = {
    ...{ correction, number: previous + 1, isActive: true, timestampMs: NONE },
    ...{ ...after, depth: 0, rowsUpTo: [] },
  };
  return { type: "assign", appId, item, itemAfter: item, ...after };
}

/** Adds a piece, unless it is the last one: then returns the effect of the correction if it is whole. */
function addPiece(
  app: CorrectionsOfApp,
  appId: AppId,
  previous: number,
  piece: CorrectionPiece,
): CorrectionEffect | null {
  const { id, last } = piece;
  if (app.byId.has(id)) return null;
  const waiting = app.pending.get(id) ?? { previous, pieces: [] };
  if (last === null) {
    waiting.pieces[piece.piece] = piece;
    app.pending.set(id, waiting);
    return null;
  }
  const pieces = Array.from({ length: piece.pieces }, (_, at) =>
    at === piece.piece ? piece : waiting.pieces[at],
  );
  const isWhole = pieces.every((part) => part?.pieces === piece.pieces);
  if (isWhole) return make(app, appId, previous, pieces as readonly CorrectionPiece[], last);
  app.pending.delete(id);
  return null;
}

function make(
  app: CorrectionsOfApp,
  appId: AppId,
  previous: number,
  pieces: readonly CorrectionPiece[],
  { correction, ...last }: LastMembers,
): CorrectionEffect {
  const { deviceId, target } = correction;
  const timestampMs = joinedNumbers(pieces.map((piece) => piece.timestampMs));
  const item: HeldCorrection = {
    ...last,
    ...{ correction, number: previous + 1, isActive: true, timestampMs },
    depth: app.depthUpon(correction, timestampMs),
    rowsUpTo: pieces.map(({ rowsUpTo }) => rowsUpTo),
  };
  const stage = app.stageFor(deviceId);
  const [covered, reported] = parted(timestampMs, (timeMs) => app.isHidden(stage, timeMs));
  const hidden = [{ deviceId, stage, timestampMs: reported }];
  if (target !== null) {
    const place = { deviceId: target.deviceId, stage: app.stageFor(target.deviceId) };
    const isShown = (timeMs: number) =>
      !app.isHidden(place.stage, timeMs) && sourceIndex(item, place.deviceId, timeMs) < 0;
    hidden.push({ ...place, timestampMs: targetTimes(item)!.filter(isShown) });
  }
  const rows = pieces.flatMap((piece) => (piece.rows === null ? [] : [piece.rows]));
  const { newest, newestOfTarget } = last;
  return { ...{ type: "make", appId, item, itemAfter: item, hidden, covered, rows }, newest, newestOfTarget };
}

const NONE = new Float64Array(0);

function undo(
  app: CorrectionsOfApp,
  appId: AppId,
  previous: number,
  { id, newest, newestOfTarget }: Undo,
): Effect | null {
  const item = app.byId.get(id);
  if (item === undefined || !item.isActive) return null;
  const itemAfter: HeldCorrection = {
    ...{ correction: item.correction, number: previous + 1, isActive: false, timestampMs: NONE },
    ...{ newest, newestOfTarget, depth: 0, rowsUpTo: [] },
  };
  if (item.correction.isOfDevice === true)
    return { type: "unassign", appId, item, itemAfter, newest, newestOfTarget };
  return effectOfUndo(app, appId, item, itemAfter, { newest, newestOfTarget });
}

const NONE_NEWER: NewestAfter = { newest: null, newestOfTarget: null };

function effectOfUndo(
  app: CorrectionsOfApp,
  appId: AppId,
  item: HeldCorrection,
  itemAfter: HeldCorrection,
  newestAfter: NewestAfter,
): CorrectionEffect {
  const { correction, timestampMs } = item;
  const { deviceId, target } = correction;
  const isAlone = devicesOf(correction).every((device) => isOnlyOne(app.activeOf.get(device), item));
  const isBack = (device: DeviceId, timeMs: number) => isAlone || app.isHiddenOnlyBy(item, device, timeMs);
  const [reported, covered] = parted(timestampMs, (timeMs) => isBack(deviceId, timeMs));
  const stageOfItem = (device: DeviceId) => app.stageFor(device, item.number);
  const hidden = [{ deviceId, stage: stageOfItem(deviceId), timestampMs: reported }];
  if (target !== null) {
    const place = { deviceId: target.deviceId, stage: stageOfItem(target.deviceId) };
    const comesBack = (timeMs: number) =>
      isBack(target.deviceId, timeMs) && sourceIndex(item, target.deviceId, timeMs) < 0;
    hidden.push({ ...place, timestampMs: targetTimes(item)!.filter(comesBack) });
  }
  return { type: "undo", appId, item, itemAfter, hidden, covered, rows: [], ...newestAfter };
}

function change(app: CorrectionsOfApp, { type, item, itemAfter }: Effect): void {
  const { correction, timestampMs } = item;
  const sign = type === "make" || type === "assign" ? 1 : -1;
  app.pending.delete(correction.id);
  app.byId.set(correction.id, itemAfter);
  app.active += sign;
  app.records += sign * timestampMs.length;
  if (sign === 1) app.list(item);
  else app.unlist(item);
  hideAll(app, item, sign);
  forgetOldest(app);
}

/** Hides what a correction needs hidden once more, or once less. */
function hideAll(app: CorrectionsOfApp, item: HeldCorrection, sign: 1 | -1): void {
  const { deviceId, target } = item.correction;
  app.hide(deviceId, item.timestampMs, item.number, sign);
  if (target !== null) app.hide(target.deviceId, targetTimes(item)!, item.number, sign);
}

function forgetOldest(app: CorrectionsOfApp): void {
  let surplus = app.byId.size - app.active - UNDONE_CORRECTIONS_MAX;
  if (surplus <= 0) return;
  for (const [id, { isActive }] of app.byId) {
    if (surplus === 0) return;
    if (isActive) continue;
    app.byId.delete(id);
    surplus--;
  }
}

function isOnlyOne(active: readonly HeldCorrection[] | undefined, item: HeldCorrection): boolean {
  return active?.length === 1 && active[0] === item;
}

/** The times that match, and the others. */
function parted(times: Float64Array, matches: (timeMs: number) => boolean): [Float64Array, Float64Array] {
  const [some, others] = [new Float64Array(times.length), new Float64Array(times.length)];
  let [someCount, otherCount] = [0, 0];
  for (const timeMs of times) {
    if (matches(timeMs)) some[someCount++] = timeMs;
    else others[otherCount++] = timeMs;
  }
  return [some.slice(0, someCount), others.slice(0, otherCount)];
}
