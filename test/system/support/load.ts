import type { ReferenceRecord, ReferenceRecords, ReferenceReport } from "../../reference/records.ts";
import { BODY_FORMATS, type Client, get, type IngestAnswer, post } from "./client.ts";
import { phoneMembers } from "./phone-reports.ts";
import type { Picker } from "./random.ts";

export interface Batch {
  readonly reports: readonly ReferenceReport[];
  /** `refused` with a 503: nothing of it was taken. */
  state: "unanswered" | "acknowledged" | "refused";
}

const CLIENTS = 4;
const BATCH_REPORTS_MAX = 150;
const MS_PER_DAY = 86_400_000;

/**
 * Clients that post one batch after another, in every format, until the server refuses or is gone. `onAnswer`
 * hears how many batches were acknowledged so far.
 */
export async function postWhileItLasts(
  client: Client,
  pick: Picker,
  nextBatch: () => readonly ReferenceReport[],
  onAcknowledged: (count: number) => void,
): Promise<readonly Batch[]> {
  const batches: Batch[] = [];
  let acknowledged = 0;

  async function postOn(): Promise<void> {
    for (;;) {
      const batch: Batch = { reports: nextBatch(), state: "unanswered" };
      batches.push(batch);
      batch.state = await send(client, batch.reports, pick);
      if (batch.state !== "acknowledged") return;
      onAcknowledged(++acknowledged);
    }
  }

  await Promise.all(Array.from({ length: CLIENTS }, postOn));
  return batches;
}

async function send(
  client: Client,
  reports: readonly ReferenceReport[],
  pick: Picker,
): Promise<Batch["state"]> {
  let response: Response;
  let answer: IngestAnswer;
  try {
    response = await post(client, reports, pick.item(BODY_FORMATS));
    answer = (await response.json()) as IngestAnswer;
  } catch {
    return "unanswered"; // The server is gone.
  }
  if (response.status === 503) return "refused";
  if (response.status !== 200 || answer.accepted !== reports.length)
    throw new Error(`${response.status} ${JSON.stringify(answer)}`);
  return "acknowledged";
}

/**
 * Makes batches in which no (device, timestamp) occurs twice, nor with another source's, nor on a whole second:
 * each report makes a record of its own. Old and new devices report, late and out of order.
 */
export function createBatches(pick: Picker, deviceIds: readonly string[], newestMs: number) {
  let timestamp = newestMs;
  return (): readonly ReferenceReport[] =>
    Array.from({ length: pick.integer(1, BATCH_REPORTS_MAX) }, () => {
      do timestamp--;
      while (timestamp % 1000 === 0);
      return {
        device_id: pick.item(deviceIds),
        timestamp: timestamp - pick.integer(0, 5) * MS_PER_DAY,
        latitude: pick.decimal(42.1, 42.6, 6),
        longitude: pick.decimal(-71.4, -70.8, 6),
        ...phoneMembers(pick),
      };
    });
}

/** The records that the server has of a report's device and time, by `keyOf`; the rest of its records left out. */
export async function findReported(
  client: Client,
  batches: readonly Batch[],
): Promise<ReadonlyMap<string, ReferenceRecord>> {
  const reports = batches.flatMap((batch) => batch.reports);
  const wanted = new Set(reports.map(keyOf));
  const found = new Map<string, ReferenceRecord>();
  for (const deviceId of new Set(reports.map((report) => report.device_id))) {
    for await (const record of deviceRecords(client, deviceId)) {
      if (wanted.has(keyOf(record))) found.set(keyOf(record), record);
    }
  }
  return found;
}

export function keyOf({ device_id, timestamp }: ReferenceReport): string {
  return `${device_id} ${timestamp}`;
}

/** Pages through all that is known of a device; nothing where it is not. */
async function* deviceRecords(client: Client, deviceId: string): AsyncGenerator<ReferenceRecord> {
  const [start, end] = [-300, 1].map((days) => new Date(Date.now() + days * MS_PER_DAY).toISOString());
  const path = `/api/v1/devices/${encodeURIComponent(deviceId)}/locations/history`;
  const range = `start_date=${start!.slice(0, 10)}&end_date=${end!.slice(0, 10)}&limit=1000`;
  for (let offset = 0; ; offset += 1000) {
    const response = await get(client, `${path}?${range}&offset=${offset}`);
    const body = (await response.json()) as {
      locations: ReferenceRecord[];
      pagination: { has_more: boolean };
    };
    yield* body.locations;
    if (!body.pagination.has_more) return;
  }
}

/**
 * Adds to the fleet what was acknowledged, and what of the rest the server has; returns what it should have and has
 * not.
 */
export function settle(
  fleet: ReferenceRecords,
  batches: readonly Batch[],
  found: ReadonlyMap<string, ReferenceRecord>,
): readonly ReferenceReport[] {
  const lost: ReferenceReport[] = [];
  for (const { reports, state } of batches) {
    const present = reports.filter((report) => found.has(keyOf(report)));
    if (state === "acknowledged") lost.push(...reports.filter((report) => !found.has(keyOf(report))));
    fleet.report(present);
  }
  return lost;
}
