import { join } from "node:path";
import { nextTurn } from "../lib/schedule/timers.ts";
import { isErased, type PendingErasure } from "../model/erasure.ts";
import { PROFILE_FIELDS, profileIndex } from "../model/location-fields.ts";
import { NOT_CARRIED, type ReportBatch } from "../model/report-batch.ts";
import { FileError, type Files, isPassing } from "../runtime/files.ts";
import type { ReportsEntry, Sequenced } from "./entry/entry.ts";
import { createTextColumnReader } from "./entry/text-column.ts";
import { segmentName } from "./segment.ts";
import { SegmentReader } from "./segment-reader.ts";

/*
 * Reports of one instant of a device become one record, whose user is the last that any of them names. So an erasure of
 * a user destroys all reports of the record, also those that name no user, and none of a record that is another user's.
 */

const USER = profileIndex("user_id");

/** The user that a report names, or null. */
export function userOf({ texts, profiles, profile }: ReportBatch, row: number): string | null {
  const text = profiles[profile[row]! * PROFILE_FIELDS.length + USER]!;
  return text === NOT_CARRIED ? null : texts[text]!;
}

/** The instants of devices of which reports name a user. */
export class UserInstants {
  readonly #erasure: PendingErasure;
  /** By device and instant, whether the user is the last that was named. */
  readonly #devices = new Map<string, Map<number, boolean>>();

  constructor(erasure: PendingErasure) {
    this.#erasure = erasure;
  }

  /** Whether a report is of a record of the user. */
  has(deviceId: string, timestampMs: number): boolean {
    return this.#devices.get(deviceId)?.get(timestampMs) === true;
  }

  /** Whether the batch may have reports of such records. */
  mayHave({ texts }: ReportBatch): boolean {
    return texts.some((text) => this.#devices.has(text));
  }

  /** Called for entries in the order of the log. */
  note({ appId, sequence, batch }: Sequenced<ReportsEntry>): void {
    const { appId: app, sequence: end, userId } = this.#erasure;
    if (appId !== app || sequence >= end) return;
    if (!this.mayHave(batch) && !batch.texts.some((text) => text === userId)) return;
    for (let row = 0; row < batch.count; row++) {
      const user = userOf(batch, row);
      if (user === null) continue;
      const deviceId = batch.texts[batch.device[row]!]!;
      if (user === userId) this.#timesOf(deviceId).set(batch.timestampMs[row]!, true);
      else if (this.has(deviceId, batch.timestampMs[row]!))
        this.#timesOf(deviceId).set(batch.timestampMs[row]!, false);
    }
  }

  /** Forgets instants that an earlier erasure erases; called before later entries are noted. */
  forget(erasure: PendingErasure, instants: UserInstants | null): void {
    if (erasure.appId !== this.#erasure.appId || (erasure.userId !== null && instants === null)) return;
    for (const [deviceId, times] of this.#devices)
      for (const timestampMs of times.keys()) {
        const isOfUser = instants === null || instants.has(deviceId, timestampMs);
        if (isOfUser && isErased(erasure, deviceId, erasure.userId, timestampMs)) times.delete(timestampMs);
      }
  }

  #timesOf(deviceId: string): Map<number, boolean> {
    let times = this.#devices.get(deviceId);
    if (times === undefined) {
      times = new Map();
      this.#devices.set(deviceId, times);
    }
    return times;
  }
}

/** By the sequence of an erasure of a user. */
export type InstantsOfErasures = ReadonlyMap<number, UserInstants>;

/** Bytes handled per turn of the event loop, about a millisecond of work. */
const STEP_BYTES = 32 * 1024;

/** Notes entries for erasures of users. */
class InstantsCollector {
  readonly instants: InstantsOfErasures;
  /** Erasures that are behind the entries noted so far, in the order of the log. */
  readonly #next: PendingErasure[];

  constructor(ofUsers: readonly PendingErasure[], pending: readonly PendingErasure[]) {
    this.instants = new Map(ofUsers.map((erasure) => [erasure.sequence, new UserInstants(erasure)]));
    this.#next = [...pending].sort((a, b) => a.sequence - b.sequence);
  }

  note(entry: Sequenced<ReportsEntry>): void {
    while (this.#next[0] !== undefined && this.#next[0].sequence <= entry.sequence) {
      const erasure = this.#next.shift()!;
      for (const [sequence, each] of this.instants)
        if (sequence > erasure.sequence) each.forget(erasure, this.instants.get(erasure.sequence) ?? null);
    }
    for (const each of this.instants.values()) each.note(entry);
  }
}

/** What erasures of users cover in some segments. */
export interface CollectedInstants {
  readonly instants: InstantsOfErasures;
  /** Whether each segment could be read. */
  readonly isWhole: boolean;
}

/** Reads segments for what erasures of users cover, as far as the disk can read them. */
export async function collectUserInstants(
  { files, directory }: { readonly files: Pick<Files, "read">; readonly directory: string },
  segmentNumbers: readonly number[],
  ofUsers: readonly PendingErasure[],
  pending: readonly PendingErasure[],
  signal: AbortSignal,
): Promise<CollectedInstants> {
  const collector = new InstantsCollector(ofUsers, pending);
  const { instants } = collector;
  if (instants.size === 0) return { instants, isWhole: true };
  let isWhole = true;
  for (const number of segmentNumbers) {
    const path = join(directory, segmentName(number));
    const bytes = await files.read(path).catch(nullIfUnreadable);
    if (bytes === null) {
      isWhole = false;
      continue;
    }
    const source = { path, number, bytes, isReadable: true, isNewest: false };
    const start = { lastSequence: number - 1, nextSequence: number };
    const reader = new SegmentReader(source, start, createTextColumnReader());
    let stepEnd = STEP_BYTES;
    for (let entry = reader.next(); entry !== null; entry = reader.next()) {
      if (entry.kind === "reports") collector.note(entry);
      if (signal.aborted) return { instants, isWhole: false };
      if (reader.readBytes < stepEnd) continue;
      await nextTurn();
      stepEnd = reader.readBytes + STEP_BYTES;
    }
  }
  return { instants, isWhole };
}

function nullIfUnreadable(error: unknown): null {
  if (!(error instanceof FileError) || isPassing(error)) throw error;
  return null;
}
