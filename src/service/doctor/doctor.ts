import { type QuotaOwner, SharedPool } from "../../lib/schedule/shared-pool.ts";
import type { Steps } from "../../lib/schedule/steps.ts";
import { numberIndex } from "../../model/location-fields.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import { DeviceMeasures, type Visit } from "./device-measures.ts";
import { type DeviceSelection, DeviceSlots } from "./device-slots.ts";
import type { IngestedReports, RefusedReport, SenderClient } from "./ingested-reports.ts";
import { LastRequests, type NotedMessage, type NotedRequest, notedMessage } from "./last-requests.ts";

const DEVICES_MAX = 100_000;
/**
 * A device that was seen within this time keeps its slot, or the devices of a very large fleet would evict each other.
 */
const KEPT_MS = 86_400_000;
/** A device that was silent for this long loses its slot. */
const FORGOTTEN_MS = 30 * 86_400_000;
/** Devices examined in one step, a few microseconds each. */
const EXAMINED_PER_STEP = 32;

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");
const ACCURACY = numberIndex("horizontal_accuracy");
const SPEED = numberIndex("speed");

/** Watches what clients send, and diagnoses their devices. All its data is in memory. */
export class Doctor {
  readonly #budget = new WatchBudget();
  readonly #slots = new DeviceSlots<SenderClient>(DEVICES_MAX, KEPT_MS);
  readonly #measures = new DeviceMeasures();
  readonly #lastRequests = new LastRequests();

  /** Known devices, counted once for each client that reports for them. */
  get deviceCount(): number {
    return this.#slots.size;
  }

  /** Notes a message. The cost is bounded: in a flood some messages are skipped. */
  note(sender: QuotaOwner, client: SenderClient, ingested: IngestedReports): void {
    const reports = ingested.batches.reduce((sum, { count }) => sum + count, 0);
    const units = MESSAGE_UNITS + Math.min(reports + ingested.refused.length, STRETCH_REPORTS_MAX);
    if (!this.#budget.take(sender, units, ingested.arrivedMs)) return;
    const message = notedMessage(client, ingested);
    this.#noteBatches({ owner: sender, message }, ingested.batches, reports);
    this.#noteRefused({ owner: sender, message }, ingested.refused);
  }

  /** The last few requests of a device, oldest first; null where nothing is known of it. */
  lastRequests(appId: string, deviceId: string): readonly NotedRequest[] | null {
    return this.#lastRequests.find(appId, deviceId);
  }

  /** Forgets what is known of a device, or of all devices of an app. */
  forget(appId: string, deviceId: string | null): void {
    for (const slot of this.#slots.usedBy({ appId, deviceId })) {
      this.#measures.clear(slot);
      this.#slots.free(slot);
    }
    this.#lastRequests.forget(appId, deviceId);
  }

  /** Reports everything that is wrong with the selected devices now, some devices in each step. */
  *examine(selection: DeviceSelection, visit: Visit): Steps<void> {
    let examined = 0;
    for (const slot of this.#slots.usedBy(selection)) {
      const owner = this.#slots.ownerOf(slot);
      if (visit.nowMs - owner.seenMs > FORGOTTEN_MS) this.#slots.free(slot);
      else this.#measures.examine(slot, owner, visit);
      if (++examined % EXAMINED_PER_STEP === 0) yield;
    }
  }

  /** Notes a stretch of a long message, from a random position. */
  #noteBatches(of: OwnedMessage, batches: readonly ReportBatch[], reports: number): void {
    let passed = Math.floor(Math.random() * Math.max(0, reports - STRETCH_REPORTS_MAX + 1));
    let left = STRETCH_REPORTS_MAX;
    const each = reports === 0 ? 0 : 1 / reports;
    const shares = { each, duplicates: of.message.duplicates * each };
    for (const batch of batches) {
      const start = Math.min(passed, batch.count);
      const end = Math.min(start + left, batch.count);
      for (let first = start; first < end; ) {
        const next = endOfRun(batch, first, end);
        this.#noteRun(of, { batch, first, end: next }, shares);
        first = next;
      }
      passed -= start;
      left -= end - start;
    }
  }

  #noteRun({ owner, message }: OwnedMessage, { batch, first, end }: Run, shares: Shares): void {
    const deviceId = batch.texts[batch.device[first]!]!;
    const reports = end - first;
    const { arrivedMs } = message;
    this.#lastRequests.noteAccepted({ owner, message, deviceId }, reports, batch, end - 1);
    const slot = this.#see({ owner, message }, deviceId);
    if (slot === null) return;
    this.#measures.noteAccepted(slot, reports, reports * shares.duplicates);
    this.#measures.noteLacking(slot, message, reports * shares.each);
    const { numbers, timestampMs } = batch;
    for (let row = first; row < end; row++) {
      this.#measures.noteFix(slot, arrivedMs, {
        timestampMs: timestampMs[row]!,
        latitude: numbers[LATITUDE]![row]!,
        longitude: numbers[LONGITUDE]![row]!,
        accuracyMeters: numbers[ACCURACY]![row]!,
        speed: numbers[SPEED]![row]!,
      });
    }
  }

  #noteRefused({ owner, message }: OwnedMessage, all: readonly RefusedReport[]): void {
    for (const refused of all.slice(0, STRETCH_REPORTS_MAX)) {
      const { deviceId } = refused;
      if (deviceId === null) continue;
      this.#lastRequests.noteRefused({ owner, message, deviceId }, refused);
      const slot = this.#see({ owner, message }, deviceId);
      if (slot !== null) this.#measures.noteRefused(slot, refused);
    }
  }

  #see({ owner, message }: OwnedMessage, deviceId: string): number | null {
    const { client, arrivedMs } = message;
    const slot = this.#slots.see(owner, client, deviceId, arrivedMs, (fresh) => this.#measures.clear(fresh));
    if (slot !== null) this.#measures.noteMessage(slot, arrivedMs);
    return slot;
  }
}

interface OwnedMessage {
  readonly owner: QuotaOwner;
  readonly message: NotedMessage;
}

/** A report's share of the numbers that are known only of its whole message. */
interface Shares {
  readonly each: number;
  readonly duplicates: number;
}

/** Consecutive rows of a batch of one device. */
interface Run {
  readonly batch: ReportBatch;
  readonly first: number;
  readonly end: number;
}

function endOfRun({ device }: ReportBatch, first: number, endMax: number): number {
  let end = first + 1;
  while (end < endMax && device[end] === device[first]) end++;
  return end;
}

/** The budget of a window; a report costs one unit, some tenths of a microsecond. */
const WINDOW_UNITS = 500;
/** Units for a message without its reports. */
const MESSAGE_UNITS = 4;
/** At most this many reports of a message are noted. */
const STRETCH_REPORTS_MAX = 256;

const WINDOW_MS_MIN = 50;
const WINDOW_MS_MAX = 150;
/** Messages are noted in the order in which they are stored, not of their arrival; also, a clock may be set back. */
const BEHIND_MS_MAX = 60_000;

/**
 * Limits how much is watched: everything while little is sent, and a cheap sample of a flood. Keys and apps share the
 * budget, so that a flood from one does not hide the devices of another. Windows differ in length, so that senders with
 * the same rhythm are all seen in turn.
 */
export class WatchBudget {
  #pool = new SharedPool(0);
  #startMs = Number.NEGATIVE_INFINITY;
  #lengthMs = 0;

  /** Whether the window has enough units left; if so, takes them. */
  take(owner: QuotaOwner, units: number, nowMs: number): boolean {
    const elapsedMs = nowMs - this.#startMs;
    if (!(elapsedMs >= -BEHIND_MS_MAX && elapsedMs < this.#lengthMs)) {
      this.#startMs = nowMs;
      this.#lengthMs = WINDOW_MS_MIN + Math.random() * (WINDOW_MS_MAX - WINDOW_MS_MIN);
      this.#pool = new SharedPool(WINDOW_UNITS);
    }
    return this.#pool.take(owner, units);
  }
}
