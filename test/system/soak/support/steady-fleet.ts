import type { ReferenceReport } from "../../../reference/records.ts";
import type { Picker } from "../../support/random.ts";

/*
 * A fleet whose data stays the same in amount while all of it changes: memory that grows under it is lost memory.
 *
 *   live    the same instants of today for every device, each set anew time after time; a quarter are the newest ones,
 *           so devices move
 *   late    the same instants of archived days, set anew, which the next seal folds into the days' files
 *   aging   new instants of days that are due, which the next seal takes out of memory
 */

const MS_PER_MINUTE = 60_000;
const MS_PER_DAY = 86_400_000;

const DEVICES = 1000;
const LIVE_INSTANTS = 60;
const LATE_DAYS = [9, 10, 11, 12];
const LATE_DEVICES = 200;
const LATE_INSTANTS = 5;
const AGING_DAYS = [8, 30] as const;

export interface SteadyFleet {
  readonly deviceIds: readonly string[];
  /** What memory holds all the time. */
  readonly liveRecords: number;
  /** Every live and every late instant once. */
  first(): readonly ReferenceReport[];
  /** A new place for every device. */
  newest(): readonly ReferenceReport[];
  live(): ReferenceReport;
  late(): ReferenceReport;
  aging(): ReferenceReport;
}

/** `places` are where devices go, one after the other. */
export function createSteadyFleet(
  places: readonly ReferenceReport[],
  pick: Picker,
  nowMs: number,
): SteadyFleet {
  const deviceIds = Array.from({ length: DEVICES }, (_, number) => `bus-${number}`);
  const todayMs = nowMs - (nowMs % MS_PER_DAY);
  let place = 0;

  function report(device: number, timestamp: number): ReferenceReport {
    const { latitude, longitude, speed, bearing } = places[place++ % places.length]!;
    return {
      device_id: deviceIds[device]!,
      timestamp,
      latitude,
      longitude,
      ...(speed === undefined ? {} : { speed }),
      ...(bearing === undefined ? {} : { bearing }),
      user_id: `driver-${device % 100}`,
      battery_level: pick.integer(0, 100),
      battery_status: pick.item(["Charging", "Not Charging"]),
      model: device % 2 === 0 ? "Pixel 8" : "iPhone 15",
    };
  }

  const liveMs = (instant: number) => nowMs - instant * MS_PER_MINUTE;
  const lateMs = (day: number, instant: number) =>
    todayMs - day * MS_PER_DAY + (12 * 60 + instant) * MS_PER_MINUTE;

  return {
    deviceIds,
    liveRecords: DEVICES * LIVE_INSTANTS,
    first() {
      const reports: ReferenceReport[] = [];
      for (let device = 0; device < DEVICES; device++) {
        for (let instant = 0; instant < LIVE_INSTANTS; instant++)
          reports.push(report(device, liveMs(instant)));
        if (device >= LATE_DEVICES) continue;
        for (const day of LATE_DAYS) {
          for (let instant = 0; instant < LATE_INSTANTS; instant++)
            reports.push(report(device, lateMs(day, instant)));
        }
      }
      return reports;
    },
    newest: () => deviceIds.map((_, device) => report(device, liveMs(0))),
    live() {
      const instant = pick.maybe(0.25, () => 0) ?? pick.integer(0, LIVE_INSTANTS - 1);
      return report(pick.integer(0, DEVICES - 1), liveMs(instant));
    },
    late() {
      const timestamp = lateMs(pick.item(LATE_DAYS), pick.integer(0, LATE_INSTANTS - 1));
      return report(pick.integer(0, LATE_DEVICES - 1), timestamp);
    },
    aging() {
      const dayMs = todayMs - pick.integer(...AGING_DAYS) * MS_PER_DAY;
      return report(pick.integer(0, DEVICES - 1), dayMs + pick.integer(0, MS_PER_DAY - 1));
    },
  };
}
