import { basename } from "node:path";
import { crc32 } from "node:zlib";
import { parseUtcDayName, type UtcDay, utcDayOf } from "../../../../src/model/time/utc-day.ts";
import type { SealTime } from "../../../../src/service/upkeep/seal/plan.ts";
import type { SealReport } from "../../../../src/service/upkeep/seal/seal.ts";
import { dayNames } from "../check/compare.ts";
import { type Contribution, type RunModel, recordKey } from "../check/model.ts";
import type { ObservedApp } from "../check/observe.ts";
import type { PartRecord } from "../run/engine.ts";
import { ARCHIVE_DIRECTORY, DAMAGED_DIRECTORY, type RunService } from "../run/service.ts";
import { type Flip, type HeldByPart, isPart } from "./flips.ts";
import { findFrames, type LogFrame } from "./log-frames.ts";

/**
 * What went bad in a run besides crashes, and so what may be missing: contributions that a flipped file held, days
 * whose files the retention may have deleted, segments that can't be read for now. And what the service has to say
 * of it: damage that it does not name is a failure.
 */
export interface RunDamage {
  /** Paths that were flipped. */
  readonly flipped: ReadonlySet<string>;
  readonly hasFlips: boolean;
  /** Whether a part that was flipped is still there. */
  hasFlippedPart(contents: ReadonlyMap<string, Uint8Array>): boolean;
  noteFlip(flip: Flip): void;
  /** A start was made: which frames of the disk it could not read. */
  noteStart(service: RunService, contents: ReadonlyMap<string, Uint8Array>): void;
  /** The manifest had to be made anew, and could not take in the part that holds these. */
  noteLeftOut(records: readonly PartRecord[]): void;
  /** A seal was tried at this time: what it may have deleted, or surely has where it says so. */
  noteSeal(service: RunService, time: SealTime, report: SealReport | null): void;
  /** An operator gives up these parts of the archive; `isSure` where that was surely written down. */
  noteAcknowledged(files: readonly string[], parts: readonly HeldByPart[], isSure: boolean): void;
  /** Whether it is in a segment that can't be read: it may be missing right now, though not for good. */
  isUnread(contribution: Contribution): boolean;
  /** What the start should have named and did not, in a sentence; null where all is well. */
  findUnnamed(service: RunService, contents: ReadonlyMap<string, Uint8Array>): string | null;
  /** How an answer is wrong about damaged days, in a sentence; null where it is not. */
  findWrongDays(
    service: RunService,
    appId: string,
    observed: ObservedApp,
    at: {
      readonly edgeMs: number;
      readonly mayFailReading: boolean;
      readonly contents: ReadonlyMap<string, Uint8Array>;
    },
  ): string | null;
  /** Whether the manifest or a part may be gone from where it was. */
  isFlipped(file: string): boolean;
}

const DAY_MS = 86_400_000;

export function createRunDamage(model: RunModel): RunDamage {
  const flipped = new Set<string>();
  const parts = new Map<string, HeldByPart>();
  const unnamed: Flip[] = [];
  const acknowledged = new Set<string>();
  const expiredSinceMs = new Map<UtcDay, number>();
  let unread: ReadonlySet<number> = new Set();
  let isAcknowledgementSure = true;
  let hasLostManifest = false;

  function loosenRecords(records: readonly PartRecord[], sequenceMax: number): void {
    const held = new Set(
      records.map((each) => `${each.appId} ${recordKey(each.deviceId, each.timestampMs)}`),
    );
    model.loosen(
      (appId, { deviceId, timestampMs }, { batch }) =>
        held.has(`${appId} ${recordKey(deviceId, timestampMs)}`) && (batch.sequence ?? 0) <= sequenceMax,
    );
  }

  function loosenPart({ records, sequence }: HeldByPart): void {
    loosenRecords(records, sequence);
  }

  function loosenDays(days: ReadonlySet<UtcDay>): void {
    model.loosen((_, { timestampMs }) => days.has(utcDayOf(timestampMs)));
  }

  function isNamed(
    flip: Flip,
    { directory, notes }: RunService,
    contents: ReadonlyMap<string, Uint8Array>,
  ): boolean {
    const isKept = [...contents.keys()].some(
      (path) => path.startsWith(DAMAGED_DIRECTORY) && basename(path).startsWith(`${basename(flip.path)}.`),
    );
    if (flip.kind === "manifest") return isKept || notes.some((note) => note.includes("manifest"));
    if (flip.kind !== "log" || isKept) return true;
    const { damage, tornTail } = directory.recovery;
    return [...damage, ...(tornTail === null ? [] : [tornTail])].some(
      ({ file, offset, bytes }) =>
        file === flip.path && flip.offset >= offset && flip.offset < offset + bytes,
    );
  }

  return {
    flipped,
    get hasFlips() {
      return flipped.size > 0;
    },
    hasFlippedPart: (contents) => [...flipped].some((path) => contents.has(path) && isPart(path)),
    isFlipped: (file) => parts.has(file) || flipped.has(`${ARCHIVE_DIRECTORY}/${file}`),
    noteFlip(flip) {
      flipped.add(flip.path);
      unnamed.push(flip);
      if (flip.kind === "part") {
        parts.set(flip.part.file, flip.part);
        loosenPart(flip.part);
      } else if (flip.kind === "log" && flip.frame !== null) {
        const { sequence } = flip.frame;
        model.loosen((_, __, { batch }) => batch.sequence === sequence);
      } else if (flip.kind === "acknowledged") {
        isAcknowledgementSure = false;
      }
    },
    noteStart({ directory, notes }, contents) {
      if (notes.some((note) => note.includes("manifest"))) {
        hasLostManifest = true;
        model.recall(); // Files that were deleted may be back, and only the manifest knew.
      }
      const isIn = ({ path, start }: LogFrame) =>
        directory.recovery.damage.some(
          ({ file, offset, bytes }) =>
            file === path && start >= offset && (start < offset + bytes || bytes === 0), // Of unknown size.
        );
      unread = new Set(
        directory.recovery.damage.length === 0
          ? []
          : findFrames(contents)
              .filter(isIn)
              .map(({ sequence }) => sequence),
      );
    },
    noteLeftOut: (records) => loosenRecords(records, Number.POSITIVE_INFINITY),
    noteSeal({ directory }, { nowMs, firstDay }, report) {
      const deleted = new Set<UtcDay>();
      for (const day of model.days()) {
        const sinceMs = expiredSinceMs.get(day);
        if (day >= firstDay) {
          if (report !== null) expiredSinceMs.delete(day);
        } else if (sinceMs === undefined) expiredSinceMs.set(day, nowMs);
        else if (nowMs - sinceMs >= DAY_MS) deleted.add(day);
      }
      if (deleted.size > 0) loosenDays(deleted);
      if (report === null || report.deleted.length === 0) return;
      const { expired } = directory.archive.manifest;
      const sure = new Map(
        report.deleted.map(parseUtcDayName).map((day) => [day, expired.get(day!)?.sequence ?? 0]),
      );
      model.forget((day, { batch }) => (batch.sequence ?? Number.POSITIVE_INFINITY) <= (sure.get(day) ?? 0));
    },
    noteAcknowledged(files, given, isSure) {
      isAcknowledgementSure = isSure;
      for (const file of files) acknowledged.add(file);
      for (const part of given) loosenPart(part);
    },
    isUnread: ({ batch }) => batch.sequence !== null && unread.has(batch.sequence),
    findUnnamed(service, contents) {
      const looked = unnamed.splice(0);
      // Of a segment that nobody could look into, or set anything aside from, the next start tells.
      const isLeft = ({ path }: Flip) =>
        service.directory.recovery.damage.some(({ file, savedAs }) => file === path && savedAs === null);
      unnamed.push(...looked.filter(isLeft));
      const silent = looked.find((flip) => !isLeft(flip) && !isNamed(flip, service, contents));
      return silent === undefined ? null : `nobody names the damage at ${silent.offset} of ${silent.path}`;
    },
    findWrongDays({ directory }, appId, observed, { edgeMs, mayFailReading, contents }) {
      const firstDay = utcDayOf(edgeMs);
      const wanted = new Set<UtcDay>();
      const allowed = new Set<UtcDay>();
      let isIncomplete = false;
      for (const [day, sealed] of [
        ...directory.archive.manifest.days,
        ...directory.archive.manifest.expired,
      ]) {
        if (day < firstDay) continue;
        for (const part of sealed.parts.filter((each) => parts.has(each.file))) {
          // A seal that was cut off may have left a file of this name, which a later one replaced.
          if (crc32(contents.get(`${ARCHIVE_DIRECTORY}/${part.file}`) ?? "") === part.crc) continue;
          allowed.add(day);
          if (!part.apps.has(appId as never)) continue;
          if (!acknowledged.has(part.file)) wanted.add(day);
          else isIncomplete = true;
        }
        if (sealed.lost.some(({ apps }) => apps.has(appId as never))) isIncomplete = true;
      }
      const silent = [...wanted].filter((day) => !observed.damagedDays.has(day));
      if (silent.length > 0)
        return `${dayNames(silent)} lacks a damaged part, and is answered without a word`;
      const spoken = [...observed.damagedDays].filter((day) => !allowed.has(day));
      if (spoken.length > 0 && !mayFailReading)
        return `${dayNames(spoken)} is said to be damaged, and is not`;
      if (mayFailReading || !isAcknowledgementSure || hasLostManifest) return null;
      const given = [...observed.damagedDays].filter((day) => !wanted.has(day));
      if (given.length > 0) return `${dayNames(given)} was given up, and is answered with an error`;
      return isIncomplete && !observed.isIncomplete
        ? "what was given up is missing from an answer that claims to be complete"
        : null;
    },
  };
}
