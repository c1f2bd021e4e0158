import type { ReferenceReport } from "../../../reference/records.ts";
import { phoneMembers } from "../../support/phone-reports.ts";
import type { Picker } from "../../support/random.ts";

/** Where one client's batches come from: real tracks of devices that are its own. */
export interface Tour {
  /** Begins with other devices, a few at a time, so that a round names few. */
  turn(): void;
  nextBatch(): readonly ReferenceReport[];
}

const MS_PER_DAY = 86_400_000;
/** Of which today's come most often. All that is more than a week past is due for the archive. */
const AGES_DAYS = [0, 0, 0, 0, 1, 3, 6, 9, 9, 10, 12, 40, 41, 150, 290];

const DEVICES_A_CLIENT = 60;
const DEVICES_A_TURN = 5;
const BATCH_REPORTS_MAX = 150;
const BATCHES_REMEMBERED = 40;

/** Shares the tracks out; no device is in two tours, so each client alone decides in which order a device reports. */
export function planTours(
  reports: readonly ReferenceReport[],
  clients: number,
  pick: Picker,
  nowMs: number,
): Tour[] {
  const newestMs = reports.reduce((newest, { timestamp }) => Math.max(newest, timestamp), 0);
  const shiftMs = Math.floor((nowMs - newestMs) / MS_PER_DAY) * MS_PER_DAY;
  const tracks = [...Map.groupBy(reports, ({ device_id }) => device_id).values()];
  return Array.from({ length: clients }, (_, client) => {
    const own = tracks.filter((_, index) => index % clients === client).slice(0, DEVICES_A_CLIENT);
    return createTour(own, pick, shiftMs);
  });
}

function createTour(tracks: readonly (readonly ReferenceReport[])[], pick: Picker, shiftMs: number): Tour {
  let chosen = tracks.slice(0, DEVICES_A_TURN);
  const sent: (readonly ReferenceReport[])[] = [];

  function freshBatch(): readonly ReferenceReport[] {
    const movedMs = shiftMs - pick.item(AGES_DAYS) * MS_PER_DAY;
    return Array.from({ length: pick.integer(1, 3) }, () => {
      const track = pick.item(chosen);
      const from = pick.integer(0, track.length - 1);
      const part = track.slice(from, from + pick.integer(1, BATCH_REPORTS_MAX / 3));
      return part.map((report) => ({
        ...report,
        ...(pick.maybe(0.3, () => phoneMembers(pick)) ?? {}),
        timestamp: report.timestamp + movedMs,
      }));
    }).flat();
  }

  /** The same times once more, with some of the fields set anew. */
  function replacing(reports: readonly ReferenceReport[]): readonly ReferenceReport[] {
    return reports.map(({ device_id, timestamp, latitude, longitude }) => ({
      device_id,
      timestamp,
      latitude: pick.maybe(0.3, () => pick.decimal(42.1, 42.6, 6)) ?? latitude,
      longitude,
      ...phoneMembers(pick),
    }));
  }

  return {
    turn() {
      chosen = Array.from({ length: DEVICES_A_TURN }, () => pick.item(tracks));
      sent.length = 0;
    },
    nextBatch() {
      const kind = sent.length === 0 ? 1 : pick.decimal(0, 1, 3);
      const batch = kind < 0.15 ? pick.item(sent) : kind < 0.3 ? replacing(pick.item(sent)) : freshBatch();
      if (sent.length < BATCHES_REMEMBERED) sent.push(batch);
      return batch;
    },
  };
}
