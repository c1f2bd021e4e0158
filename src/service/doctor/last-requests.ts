import type { QuotaOwner } from "../../lib/schedule/shared-pool.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import { DeviceSlots } from "./device-slots.ts";
import { type KeptReport, keepReport } from "./kept-report.ts";
import type { LeftOutField, RefusedReport, Speaker, TakenReports } from "./taken-reports.ts";

const DEVICES_MAX = 10_000;
/** Of each device. */
const REQUESTS_MAX = 5;
/** Of a request, of each device. */
const REFUSED_MAX = 3;
/** Of what a message held besides positions. */
const NAMES_MAX = 10;

/** What is told of a message to each device that was in it. */
export interface NotedMessage {
  readonly arrivedMs: number;
  readonly client: Speaker;
  /** Of all its reports those that changed nothing. */
  readonly duplicates: number;
  /** What was no position, by what it was. */
  readonly skipped: readonly Counted[];
  /** Optional fields that were left out of its reports. */
  readonly leftOut: readonly LeftOutField[];
  /** Of all its reports those that have the time of their arrival. */
  readonly timedByArrival: number;
}

export interface Counted {
  readonly name: string;
  readonly count: number;
}

/** A message as a device was in it, and how that was understood. */
export interface NotedRequest {
  readonly message: NotedMessage;
  /** How many of the device's reports were taken, and the last of them in the message. */
  readonly taken: number;
  readonly newest: KeptReport | null;
  /** How many of its points could not be used, and the first of them. */
  readonly refusedCount: number;
  readonly refused: readonly RefusedReport[];
}

/** Whose part of a message is noted, and whose message it is. */
export interface DeviceInMessage {
  readonly holder: QuotaOwner;
  readonly message: NotedMessage;
  readonly deviceId: string;
}

/** The last few requests of the devices that were heard of last, whichever clients spoke for them. */
export class LastRequests {
  /** Nobody is spared: who is new takes the place of the device that its key was silent of for longest. */
  readonly #slots = new DeviceSlots<"">(DEVICES_MAX, 0);
  readonly #requests: Noted[][] = [];

  find(appId: string, deviceId: string): readonly NotedRequest[] | null {
    const slot = this.#slots.find(appId, "", deviceId);
    return slot === null ? null : this.#requests[slot]!;
  }

  /** So many reports of a device, the last of which is in this row of the batch. */
  noteTaken(of: DeviceInMessage, reports: number, batch: ReportBatch, row: number): void {
    const request = this.#requestOf(of);
    if (request === null) return;
    request.taken += reports;
    request.newest = keepReport(batch, row);
  }

  noteRefused(of: DeviceInMessage, refused: RefusedReport): void {
    const request = this.#requestOf(of);
    if (request === null) return;
    request.refusedCount++;
    if (request.refused.length < REFUSED_MAX) request.refused = [...request.refused, refused];
  }

  /** The device's note of this message. */
  #requestOf({ holder, message, deviceId }: DeviceInMessage): Noted | null {
    const slot = this.#slots.see(holder, "", deviceId, message.arrivedMs, (fresh) => {
      this.#requests[fresh] = [];
    });
    if (slot === null) return null;
    const requests = this.#requests[slot]!;
    const last = requests.at(-1);
    if (last !== undefined && last.message === message) return last;
    const request: Noted = { message, taken: 0, newest: null, refusedCount: 0, refused: NONE_REFUSED };
    if (requests.push(request) > REQUESTS_MAX) requests.shift();
    return request;
  }
}

interface Noted extends NotedRequest {
  taken: number;
  newest: KeptReport | null;
  refusedCount: number;
  refused: readonly RefusedReport[];
}

const NONE_REFUSED: readonly RefusedReport[] = [];

/** The part of a message that its devices share. */
export function notedMessage(client: Speaker, taken: TakenReports): NotedMessage {
  const { arrivedMs, duplicates, skipped, leftOut, timedByArrival } = taken;
  return { arrivedMs, client, duplicates, skipped: firstOf(skipped), leftOut, timedByArrival };
}

function firstOf(counts: ReadonlyMap<string, number>): readonly Counted[] {
  if (counts.size === 0) return NOTHING;
  return [...counts].slice(0, NAMES_MAX).map(([name, count]) => ({ name, count }));
}

const NOTHING: readonly Counted[] = [];
