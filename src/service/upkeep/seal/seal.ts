import {
  findSealed,
  type Manifest,
  type Part,
  type SealedDay,
  type StandingPart,
} from "../../../archive/manifest.ts";
import { encodeStanding } from "../../../archive/standing-file.ts";
import type { HotStore } from "../../../hot/hot-store.ts";
import { type CreateSalt, createRandomSalt } from "../../../lib/frames/head.ts";
import { messageOf } from "../../../lib/message-of.ts";
import { inTurns } from "../../../lib/schedule/steps.ts";
import { nextTurn } from "../../../lib/schedule/timers.ts";
import type { StandingEntry } from "../../../model/standing-entry.ts";
import type { Clock } from "../../../model/time/clock.ts";
import type { Retention } from "../../../model/time/retention.ts";
import { type UtcDay, utcDayName, utcDayOf, utcDayStartMs } from "../../../model/time/utc-day.ts";
import { ignoreFileError } from "../../../runtime/files.ts";
import type { LogErasing } from "../../../wal/closed-segments.ts";
import type { Wal } from "../../../wal/log.ts";
import type { MessageStore, QuarantineSnapshot } from "../../quarantine/message-store.ts";
import {
  asideKeepMs,
  ErasingProgress,
  erasingOf,
  lastSequenceOf,
  planErasing,
  type SealErasing,
} from "./erasing-plan.ts";
import { type FoldDependencies, type Folded, type FoldRequest, foldDays, type SealProgress } from "./fold.ts";
import { planRetention, planSeal, type RetentionPlan, type SealTime, splitExpired } from "./plan.ts";

/** The result of a seal. */
export interface SealReport {
  /** Days whose records moved from memory to the archive. */
  readonly days: readonly string[];
  readonly records: number;
  /** Parquet files written and their bytes, without the checkpoint. */
  readonly parts: number;
  readonly bytes: number;
  /** Days that stay in memory, because the archive's part of them is damaged. */
  readonly blocked: readonly string[];
  /** Days that have left the retention, and days whose files were deleted. */
  readonly expired: readonly string[];
  readonly deleted: readonly string[];
  /** Bytes of the log that were freed. */
  readonly logBytes: number;
  /** What was done for erasures that are not finished; null if there are none. */
  readonly erased: SealErasing | null;
  /**
   * Why the next seal must repeat the removal of superfluous files: an error of the disk, or a stop; null if all are
   * gone.
   */
  readonly unfinished: string | null;
  readonly durationMs: number;
}

export interface SealDependencies extends FoldDependencies {
  /** Whether days far ahead are due (`planSeal`), as in a cluster, whose log would be retained for them. */
  readonly hasFarDays?: boolean;
  readonly hot: HotStore;
  readonly log: Pick<Wal, "rotate" | "trim" | "currentDays" | "mayHold">;
  /** The quarantine, whose files a seal syncs. */
  readonly messages: Pick<MessageStore, "snapshot" | "files" | "noteCovered">;
  readonly clock: Clock;
  readonly retention: Retention;
  /** Files of parts whose loss an operator has acknowledged. */
  readonly acknowledgedParts: () => Promise<ReadonlySet<string>>;
  /**
   * Keeps what is still to be decided about reports and other entries so far. Returns the entry of the log up to which
   * nothing else is: later ones stay in the log. By default all is decided.
   */
  readonly keepMarks?: () => Promise<number>;
  /** The last entry of the log that only the database of events has; by default there is none. */
  readonly sharedSequence?: () => number;
  /** Creates the salts of files; random by default. */
  readonly createSalt?: CreateSalt;
}

/**
 * Rejects with the error of the disk or of DuckDB, or with an `AbortError` after the signal: memory and log are then
 * unchanged. Once the archive has the records, it resolves.
 */
export type Seal = (
  signal: AbortSignal,
  onProgress?: (progress: SealProgress) => void,
) => Promise<SealReport>;

/**
 * Moves due days from memory into the archive. Every file is durable before the manifest names it; the manifest is
 * swapped in one step; only then are covered records removed from memory and log. A failure before the swap changes
 * nothing, and one after it is repaired by the next seal. If the swap itself fails, the disk may have either manifest:
 * nothing is removed until the next seal has put the one in place that memory assumes. One seal runs at a time.
 */
export function createSeal(dependencies: SealDependencies): Seal {
  const { hot, log, messages, archive, clock, retention } = dependencies;
  const progress = new ErasingProgress();

  return async function seal(signal, onProgress = () => {}) {
    const startedMs = performance.now();
    const nowMs = clock.nowMs();
    const time = { nowMs, firstDay: utcDayOf(retention.startMs(nowMs)), retention: retention.text };
    if (!archive.isWritten) await archive.swap(archive.manifest);
    await writeOffLost(dependencies);
    // Leftovers of an earlier seal must not lie beside new parts, in case the manifest is rebuilt from all files.
    await archive.tidy(nowMs, asideKeepMs(hot));
    await rotateLog(dependencies, nowMs, progress);

    // In one turn of the event loop: the seal's sequence would otherwise cover a report in between whose day is not
    // folded.
    const due = planSeal(hot.daysInMemory(), nowMs, dependencies.hasFarDays);
    const { erasing, days, held } = planErasing(hot, dependencies.readUpTo, due);
    const plan = planRetention(archive.manifest, new Set(due), (day) => log.mayHold(day), time);
    const oldestMs = oldestNeededMs(archive.manifest, days, plan, time);
    const sealing = hot.seal(days);
    const hasNone = daysWithoutRecords(hot);
    const quarantine = messages.snapshot();
    const decidedSequence = await (dependencies.keepMarks?.() ?? Number.MAX_SAFE_INTEGER);

    let folded: Folded;
    let leaving: LeavingParts;
    let unsynced: string | null;
    try {
      const isCheckpointStale = progress.isCheckpointStale(erasing);
      const toErase = { erasing, held, isCheckpointStale };
      const request = { sealing, days, plan, ...toErase, oldestMs, signal, onProgress };
      const isDecided = decidedSequence >= sealing.sequence;
      const written = await writeFiles(dependencies, request, quarantine, isDecided);
      ({ folded, leaving, unsynced } = written);
      const { finishedSequence } = hot.erasures;
      const sequences = { sequence: sealing.sequence, finishedSequence };
      const next = nextManifest(archive.manifest, written, plan, sequences, time);
      if (folded.days.size > 0 || !isSame(archive.manifest, next)) await archive.swap(next);
      progress.noteCheckpoint(folded);
    } catch (error) {
      sealing.abandon();
      throw error;
    }
    const { manifest } = archive;
    sealing.commit(new Set(folded.days.keys()), sequencesOf(manifest), clearedOf(manifest));
    // A process that stops needs no memory, and the next one starts without these records.
    await yielding(sealing.drop(), signal);
    await yielding(hot.forgetCorrected(oldestMs), signal);
    await yielding(hot.watches.forget(oldestMs), signal);
    await yielding(hot.forgetDevices(oldestMs), signal);

    const isEmpty = (day: UtcDay, lastSequence: number) => lastSequence <= folded.sequence && hasNone(day);
    const { logBytes, logErasing, unfinished } = await giveUpCovered(
      dependencies,
      { ...leaving, isEmpty, decidedSequence },
      plan,
      time,
      signal,
    );
    return {
      days: names(folded.days.keys()),
      records: folded.records,
      parts: folded.written.length,
      bytes: folded.written.reduce((sum, { bytes }) => sum + bytes, 0),
      blocked: names(folded.blocked),
      expired: names([...archive.manifest.expired.keys()].filter((day) => !plan.remaining.has(day))),
      deleted: names(plan.deleted.keys()),
      logBytes,
      erased: erasing.isNeeded ? erasingOf(erasing, folded, archive.manifest, logErasing) : null,
      unfinished: unsynced ?? unfinished,
      durationMs: performance.now() - startedMs,
    };
  };
}

/** What a seal wrote. It takes effect when a manifest names it. */
interface WrittenFiles {
  readonly folded: Folded;
  readonly standing: StandingPart | null;
  /** Why the entries that stand could not be written; null if they were. */
  readonly unsynced: string | null;
  readonly leaving: LeavingParts;
}

/** Writes the entries that stand and the days. On failure it leaves no files. */
async function writeFiles(
  dependencies: SealDependencies,
  request: FoldRequest,
  quarantine: QuarantineSnapshot,
  isDecided: boolean,
): Promise<WrittenFiles> {
  const { archive, messages } = dependencies;
  const before = archive.manifest.standing;
  let standing = before;
  let unsynced: string | null = null;
  try {
    await messages.files.sync();
    // An entry that the file has is not applied again, and then marks nothing.
    if (isDecided || hasUnwrittenRows(dependencies))
      standing = await writeStanding(dependencies, request.sealing.sequence, quarantine);
  } catch (error) {
    // Reports that a day of this seal covers are in rows of corrections that only the file has.
    if (hasUnwrittenRows(dependencies)) throw error;
    ignoreFileError(error); // The log keeps the entries, and the next seal tries again.
    unsynced = messageOf(error);
  }
  const isNew = standing !== before;
  let folded: Folded;
  try {
    folded = await foldDays(dependencies, request);
  } catch (error) {
    if (standing !== null && isNew) await archive.discard([standing]);
    throw error;
  }
  const replaced = before !== null && isNew ? [before] : [];
  const isDamaged = ({ file }: Part) => archive.damaged.has(file);
  const leaving = {
    replaced: [...folded.replaced, ...replaced.filter((part) => !isDamaged(part))],
    damaged: replaced.filter(isDamaged),
  };
  return { folded, standing, unsynced, leaving };
}

/** Parts that the swapped manifest no longer names. */
interface LeavingParts {
  readonly replaced: readonly Part[];
  /** Stays for an operator. */
  readonly damaged: readonly Part[];
}

/** Which days have nothing in memory now: of those that are not archived, all that was reported so far is erased. */
function daysWithoutRecords(hot: Pick<HotStore, "daysInMemory">): (day: UtcDay) => boolean {
  const inMemory = new Set(hot.daysInMemory().map(({ day }) => day));
  return (day) => !inMemory.has(day);
}

/** Which entries of the log are not needed besides those that the archive covers. */
interface Emptiness {
  /** Whether nothing is left of the reports of a day that is not archived, in entries of the log up to one. */
  isEmpty(day: UtcDay, lastSequence: number): boolean;
  readonly decidedSequence: number;
}

/** Removes what the swapped manifest made superfluous. Each step is tried; the next seal repeats those that failed. */
async function giveUpCovered(
  { hot, archive, log, messages }: SealDependencies,
  { replaced, damaged, isEmpty, decidedSequence }: LeavingParts & Emptiness,
  { deleted }: RetentionPlan,
  { nowMs, firstDay }: SealTime,
  signal: AbortSignal,
): Promise<Pick<SealReport, "logBytes" | "unfinished"> & { readonly logErasing: LogErasing | null }> {
  let logBytes = 0;
  let logErasing: LogErasing | null = null;
  let unfinished: string | null = null;
  const steps = [
    () => archive.discard([...deleted.values()].flatMap(({ parts }) => parts)),
    () => archive.discard(replaced),
    () => archive.moveToDamaged(damaged),
    async () => {
      // Moves aside files that could not be deleted; it lists the folder of every day.
      if (deleted.size + replaced.length > 0) await archive.tidy(nowMs, asideKeepMs(hot));
    },
    async () => {
      const standingSequence = Math.min(archive.manifest.standing?.sequence ?? 0, decidedSequence);
      const erasures = hot.erasures.pending();
      const coverage = {
        isCovered: (day: UtcDay, lastSequence: number) =>
          lastSequence <= decidedSequence &&
          (findSealed(archive.manifest, day) === undefined
            ? erasures.length === 0 && isEmpty(day, lastSequence) // Else the log counts what they erase.
            : isCovered(archive.manifest, day, lastSequence)),
        isExpired: (day: UtcDay) => day < firstDay,
        standingSequence,
        erasures: erasures.filter(({ sequence }) => sequence <= standingSequence),
      };
      const trimmed = await log.trim(coverage, signal);
      logBytes = trimmed.bytes;
      logErasing = trimmed.erasing;
      messages.noteCovered(standingSequence);
    },
  ];
  for (const step of steps) {
    if (signal.aborted) break;
    try {
      await step();
    } catch (error) {
      ignoreFileError(error);
      unfinished ??= messageOf(error);
    }
  }
  if (signal.aborted) unfinished ??= "It was broken off once the archive had the records";
  return { logBytes, logErasing, unfinished };
}

function* concat<Item>(...all: readonly Iterable<Item>[]): Iterable<Item> {
  for (const items of all) yield* items;
}

/**
 * Writes the entries that stand, unless the archive's file has them all and is intact. What is applied while it is
 * written of profiles may be in the file or not: it is in the log too, behind the sequence.
 */
async function writeStanding(
  { hot, archive, readUpTo, sharedSequence = () => 0, createSalt = createRandomSalt }: SealDependencies,
  appliedSequence: number,
  quarantine: QuarantineSnapshot,
): Promise<StandingPart | null> {
  const { standing, seal } = archive.manifest;
  const { profiles, corrections, watches, webhooks } = hot;
  const erased = lastSequenceOf(hot.erasures.pending(), Math.min(appliedSequence, readUpTo));
  const newest = Math.max(
    ...[profiles.sequence, corrections.sequence, watches.sequence, webhooks.sequence],
    ...[quarantine.sequence, erased, Math.min(sharedSequence(), appliedSequence)],
  );
  const hasAll = newest <= (standing?.sequence ?? 0);
  if (hasAll && (standing === null || !archive.damaged.has(standing.file))) return standing;
  const sequence = Math.max(standing?.sequence ?? 0, Math.min(appliedSequence, readUpTo));
  // Corrections, fences and alerts are those of this moment, in which the seal's sequence was read.
  const entries = concat<StandingEntry>(
    ...[hot.correctionEntries(), watches.entries(), watches.clockEntries()],
    ...[webhooks.entries(), profiles.entries()],
    quarantine.entries,
  );
  const encoded = await inTurns(encodeStanding(entries, sequence, createSalt));
  return archive.writeStanding(seal + 1, sequence, encoded);
}

/** Whether reports were merged into rows of corrections after the archive's file was written. */
function hasUnwrittenRows({ hot, archive }: SealDependencies): boolean {
  return hot.corrections.mergedSequence > (archive.manifest.standing?.sequence ?? 0);
}

/** Removes damaged parts that an operator has acknowledged as lost from the archive; the manifest remembers them. */
async function writeOffLost({ archive, acknowledgedParts }: SealDependencies): Promise<void> {
  if (archive.damaged.size === 0) return;
  const acknowledged = await acknowledgedParts();
  const isLost = ({ file }: Part) => archive.damaged.has(file) && acknowledged.has(file);
  const lost = [...archive.manifest.days.values()].flatMap(({ parts }) => parts.filter(isLost));
  if (lost.length === 0) return;
  const days = new Map(
    [...archive.manifest.days].map(([day, sealed]) => [
      day,
      {
        ...sealed,
        parts: sealed.parts.filter((part) => !isLost(part)),
        lost: [...sealed.lost, ...sealed.parts.filter(isLost)],
      },
    ]),
  );
  await archive.swap({ ...archive.manifest, days });
  await archive.moveToDamaged(lost);
}

/** A segment is deleted as a whole, so none should have reports of many days, or what is to be erased. */
async function rotateLog(
  { hot, log }: SealDependencies,
  nowMs: number,
  progress: ErasingProgress,
): Promise<void> {
  const today = utcDayOf(nowMs);
  const erased = lastSequenceOf(hot.erasures.pending());
  if ([...log.currentDays].some((day) => day < today) || erased > progress.rotatedSequence)
    await log.rotate();
  progress.rotatedSequence = erased;
}

/**
 * Every archived day is covered up to this seal's entry, whether it was folded or has expired: of days that were not
 * folded, memory had no records when the sequence was read. Only blocked days stay behind.
 */
function nextManifest(
  manifest: Manifest,
  { folded, standing }: WrittenFiles,
  { restored, remaining }: RetentionPlan,
  { sequence, finishedSequence }: { readonly sequence: number; readonly finishedSequence: number },
  time: SealTime,
): Manifest {
  const days = new Map<UtcDay, SealedDay>();
  for (const [day, before] of [...manifest.days, ...restored]) {
    const sealed = folded.cleared.get(day) ?? before;
    days.set(day, folded.blocked.includes(day) ? sealed : coveredUpTo(sealed, folded.sequence));
  }
  for (const [day, sealed] of folded.days) days.set(day, sealed);
  const { retained, expired } = splitExpired(days, time);
  const expiredBefore = [...remaining].map(
    ([day, entry]) => [day, coveredUpTo({ ...entry, ...folded.cleared.get(day) }, folded.sequence)] as const,
  );
  return {
    seal: manifest.seal + 1,
    lastSequence: Math.max(manifest.lastSequence, sequence),
    days: retained,
    latest: folded.latest,
    expired: new Map([...expiredBefore, ...expired]),
    retention: time.retention,
    standing,
    erased: Math.max(manifest.erased, finishedSequence),
  };
}

function coveredUpTo<Day extends SealedDay>(day: Day, sequence: number): Day {
  return { ...day, sequence: Math.max(day.sequence, sequence) };
}

/** Whether a seal that folded no day changed nothing else, except covering entries without archived days. */
function isSame(before: Manifest, after: Manifest): boolean {
  return (
    before.latest === after.latest &&
    before.standing === after.standing &&
    before.retention === after.retention &&
    before.erased === after.erased &&
    hasSameKeys(before.days, after.days) &&
    hasSameCleared(before, after) &&
    hasSameKeys(before.expired, after.expired) &&
    [...before.expired].every(([day, { sinceMs }]) => after.expired.get(day)!.sinceMs === sinceMs)
  );
}

function hasSameCleared(before: Manifest, after: Manifest): boolean {
  const cleared = clearedOf(after);
  return clearedOf(before)
    .entries()
    .every(([day, sequence]) => cleared.get(day) === sequence);
}

function hasSameKeys(a: ReadonlyMap<UtcDay, unknown>, b: ReadonlyMap<UtcDay, unknown>): boolean {
  return a.size === b.size && [...a.keys()].every((day) => b.has(day));
}

/** By day, the log entry up to which it is covered; includes expired days, or the log would bring them back. */
export function sequencesOf({ days, expired }: Manifest): ReadonlyMap<UtcDay, number> {
  return new Map([...expired, ...days].map(([day, { sequence }]) => [day, sequence]));
}

/** By day, the log entry up to which erasures are gone from its files. */
export function clearedOf({ days, expired }: Manifest): ReadonlyMap<UtcDay, number> {
  return new Map([...expired, ...days].map(([day, { cleared }]) => [day, cleared]));
}

/** Whether the archive has every report of the day in entries up to this one. */
function isCovered(manifest: Manifest, day: UtcDay, lastSequence: number): boolean {
  const sealed = findSealed(manifest, day);
  return sealed !== undefined && sealed.sequence >= lastSequence;
}

/** Nothing older remains after the seal: a device's earlier newest record is forgotten. */
function oldestNeededMs(
  { days }: Manifest,
  sealed: readonly UtcDay[],
  { restored, remaining }: RetentionPlan,
  { firstDay }: SealTime,
): number {
  const withParts = [...days, ...restored, ...remaining].filter(([, { parts }]) => parts.length > 0);
  const left = [...sealed, ...withParts.map(([day]) => day)];
  return Math.min(utcDayStartMs(firstDay), ...left.map(utcDayStartMs));
}

function names(days: Iterable<UtcDay>): string[] {
  return [...days].sort((a, b) => a - b).map(utcDayName);
}

/** Runs the steps one by one until the signal aborts; requests are answered in between. */
async function yielding(steps: Iterable<void>, signal: AbortSignal): Promise<void> {
  for (const _ of steps) {
    if (signal.aborted) return;
    await nextTurn();
  }
}
