import type { DeviceAlias } from "../../model/device-alias.ts";
import { ACCURACY, LATITUDE, LONGITUDE } from "../../model/fix.ts";
import type { DeviceId } from "../../model/ids.ts";
import { NUMBER_FIELDS } from "../../model/location-fields.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import type { AppDevices } from "../app-devices.ts";
import { type DayLedger, noteChange } from "../late/day-ledger.ts";
import { type CarriedTuples, layFix, takes } from "../record-writer.ts";
import { maskOf, numberAt, profileAt, setNumber, setTuples, stateAt } from "../records/chunk.ts";
import type { Dictionary } from "../records/dictionary.ts";
import type { RowRef } from "../records/long-track.ts";
import type { CorrectedRows } from "./corrected-rows.ts";
import { type CorrectedRow, type CorrectionsOfApp, hasMerged, rowsAfter } from "./held-correction.ts";

/** A report for a hidden instant, or of a device that shows as another. */
export interface FollowingReport {
  readonly deviceId: DeviceId;
  readonly batch: ReportBatch;
  readonly row: number;
  readonly carried: CarriedTuples;
  /** The entry of the log. */
  readonly sequence: number;
}

/** What reports are merged into. */
export interface FollowedRows {
  readonly app: AppDevices;
  readonly ofApp: CorrectionsOfApp;
  readonly rows: CorrectedRows;
  readonly ledger: DayLedger;
  readonly dictionary: Dictionary;
}

/** What a report changed of what answers show. */
export interface Followed {
  /** Whether it reached a row at all. */
  readonly isMerged: boolean;
  /** The record that answers show and that changed; null if there is none. */
  readonly changed: {
    readonly device: number;
    readonly timestampMs: number;
    /** What the device shows as; null if it shows as itself. */
    readonly alias: DeviceAlias | null;
  } | null;
}

/** What corrections set, so reports don't. */
interface Fixed {
  position: boolean;
  accuracy: boolean;
  userId: string | null;
}

/**
 * Merges a report into the rows that corrections show in its place, or will show again, except in what the corrections
 * set.
 */
export function followReport(
  { app, ofApp, rows, ledger, dictionary }: FollowedRows,
  report: FollowingReport,
): Followed {
  const { deviceId, batch, row, sequence } = report;
  const mask = maskOf(batch.numbers, row);
  const fields = carriedFields(batch, row);
  const fixed: Fixed = { position: false, accuracy: false, userId: null };
  let isMerged = false;
  let changed: Followed["changed"] = null;
  for (const corrected of rowsAfter(ofApp, deviceId, batch.timestampMs[row]!)) {
    const { item, index, timestampMs, coveredBy } = corrected;
    noteTarget(fixed, corrected);
    const place = hasMerged(item, index, sequence) ? null : rows.find(app, corrected);
    if (place === null) continue;
    isMerged = true;
    const { tracks, number } = place;
    const stored = tracks.widen(number, place.ref, mask);
    const oldUser = dictionary.userOf(profileAt(stored.chunk, stored.row));
    const isChanged = mergeReport(stored, report, fields, fixed, dictionary);
    if (coveredBy !== null || !isChanged) continue;
    const user = dictionary.userOf(profileAt(stored.chunk, stored.row));
    if (user !== oldUser) {
      place.home.users.countRecord(number, user);
      place.home.users.discountRecord(number, oldUser);
    }
    noteChange(ledger.at(timestampMs));
    changed = { device: number, timestampMs, alias: place.alias };
  }
  return { isMerged, changed };
}

const ALL_FIELDS: readonly number[] = NUMBER_FIELDS.map((_, field) => field);

/** The number fields that a report has. */
function carriedFields({ numbers }: ReportBatch, row: number): readonly number[] {
  return ALL_FIELDS.filter((field) => !Number.isNaN(numbers[field]![row]!));
}

/** Merges a report into a row, which has cells for its fields. Returns whether that changed. */
function mergeReport(
  stored: RowRef,
  { batch, row, carried }: FollowingReport,
  fields: readonly number[],
  fixed: Fixed,
  dictionary: Dictionary,
): boolean {
  const { chunk, row: at } = stored;
  // After a move the report counts as one of the same position.
  const laid = fixed.position ? "merged" : layFix(batch, row, stored);
  let isChanged = false;
  // Only another fix takes away what it lacks.
  for (const field of laid === "replaced" ? ALL_FIELDS : fields) {
    if (fixed.position && (field === LATITUDE || field === LONGITUDE)) continue;
    if (fixed.accuracy && field === ACCURACY) continue;
    const value = batch.numbers[field]![row]!;
    if (!takes(field, value, numberAt(chunk, at, field), laid)) continue;
    setNumber(chunk, at, field, value);
    isChanged = true;
  }
  const oldProfile = profileAt(chunk, at);
  const oldState = stateAt(chunk, at);
  const merged = dictionary.mergeProfiles(oldProfile, carried.profile);
  const profile = fixed.userId === null ? merged : dictionary.withUser(merged, fixed.userId);
  const state = dictionary.mergeStates(oldState, carried.state, laid);
  if (profile === oldProfile && state === oldState) return isChanged;
  dictionary.retain(profile, state);
  dictionary.release(oldProfile, oldState);
  setTuples(chunk, at, profile, state);
  return true;
}

/** Adds what the correction of a row sets, and the assignments before it. */
function noteTarget(fixed: Fixed, { item, userId }: CorrectedRow): void {
  const { position } = item.correction.target!;
  fixed.userId = userId;
  fixed.position ||= position !== null;
  fixed.accuracy ||= position !== null && position.accuracyMeters !== null;
}
