import type { QuotaOwner } from "../../lib/schedule/shared-pool.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import { DeviceSlots } from "./device-slots.ts";
import type { IngestedReports, LeftOutField, RefusedReport, SenderClient } from "./ingested-reports.ts";
import { type ReportValues, valuesOfReport } from "./report-values.ts";

const DEVICES_MAX = 10_000;
/** Stored requests of each device. */
const REQUESTS_MAX = 5;
/** Stored refused points of a request and device. */
const REFUSED_MAX = 3;
/** Names of other contents of a message that are stored. */
const NAMES_MAX = 10;

/** The part of a message's record that all its devices share. */
export interface NotedMessage {
  readonly arrivedMs: number;
  readonly client: SenderClient;
  /** How many of all its reports changed nothing. */
  readonly duplicates: number;
  /** Contents other than positions, by kind. */
  readonly skipped: readonly Counted[];
  /** Optional fields that were omitted from its reports. */
  readonly leftOut: readonly LeftOutField[];
  /** How many of all its reports have the time of their arrival. */
  readonly timedByArrival: number;
}

export interface Counted {
  readonly name: string;
  readonly count: number;
}

/** A device's part of a message, and its result. */
export interface NotedRequest {
  readonly message: NotedMessage;
  /** How many reports of the device were accepted, and the last of them. */
  readonly accepted: number;
  readonly newest: ReportValues | null;
  /** How many of its points could not be used, and the first of them. */
  readonly refusedCount: number;
  readonly refused: readonly RefusedReport[];
}

/** A device's part of a message, with the sender of the message. */
export interface DeviceInMessage {
  readonly owner: QuotaOwner;
  readonly message: NotedMessage;
  readonly deviceId: string;
}

/** The last few requests of recently seen devices, by whichever client they came. */
export class LastRequests {
  /** Without an idle time: a new device always replaces its key's longest silent one. */
  readonly #slots = new DeviceSlots<"">(DEVICES_MAX, 0);
  readonly #requests: Noted[][] = [];

  find(appId: string, deviceId: string): readonly NotedRequest[] | null {
    const slot = this.#slots.find(appId, "", deviceId);
    return slot === null ? null : this.#requests[slot]!;
  }

  /** Forgets those of a device, or of all devices of an app. */
  forget(appId: string, deviceId: string | null): void {
    for (const slot of this.#slots.usedBy({ appId, deviceId })) {
      this.#requests[slot] = [];
      this.#slots.free(slot);
    }
  }

  /** Notes accepted reports of a device; the last of them is in this row. */
  noteAccepted(of: DeviceInMessage, reports: number, batch: ReportBatch, row: number): void {
    const request = this.#requestOf(of);
    if (request === null) return;
    request.accepted += reports;
    request.newest = valuesOfReport(batch, row);
  }

  noteRefused(of: DeviceInMessage, refused: RefusedReport): void {
    const request = this.#requestOf(of);
    if (request === null) return;
    request.refusedCount++;
    if (request.refused.length < REFUSED_MAX) request.refused = [...request.refused, refused];
  }

  /** The device's record of this message. */
  #requestOf({ owner, message, deviceId }: DeviceInMessage): Noted | null {
    const slot = this.#slots.see(owner, "", deviceId, message.arrivedMs, (fresh) => {
      this.#requests[fresh] = [];
    });
    if (slot === null) return null;
    const requests = this.#requests[slot]!;
    const last = requests.at(-1);
    if (last !== undefined && last.message === message) return last;
    const request: Noted = { message, accepted: 0, newest: null, refusedCount: 0, refused: NONE_REFUSED };
    if (requests.push(request) > REQUESTS_MAX) requests.shift();
    return request;
  }
}

interface Noted extends NotedRequest {
  accepted: number;
  newest: ReportValues | null;
  refusedCount: number;
  refused: readonly RefusedReport[];
}

const NONE_REFUSED: readonly RefusedReport[] = [];

export function notedMessage(client: SenderClient, ingested: IngestedReports): NotedMessage {
  const { arrivedMs, duplicates, skipped, leftOut, timedByArrival } = ingested;
  return { arrivedMs, client, duplicates, skipped: firstOf(skipped), leftOut, timedByArrival };
}

function firstOf(counts: ReadonlyMap<string, number>): readonly Counted[] {
  if (counts.size === 0) return NOTHING;
  return [...counts].slice(0, NAMES_MAX).map(([name, count]) => ({ name, count }));
}

const NOTHING: readonly Counted[] = [];
