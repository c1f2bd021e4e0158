import type { ReferenceReport } from "../../../reference/records.ts";
import type { Picker } from "../../support/random.ts";
import { ARCHIVED_DAYS } from "./erased-subject.ts";
import type { Tour } from "./tour.ts";

const DEVICES = 5;
const INSTANTS_A_DAY = 40;
const BATCH_REPORTS_MAX = 30;
const AGES_DAYS = [0, 0, 1, 3, ...ARCHIVED_DAYS];
const DAY_MS = 86_400_000;

/** A few devices that report the same instants of some days again and again, so that there are never many records. */
export function createSmallTour(pick: Picker, todayMs: number): Tour {
  function report(): ReferenceReport {
    const instant = pick.integer(0, INSTANTS_A_DAY - 1);
    return {
      device_id: `reporter-${pick.integer(1, DEVICES)}`,
      timestamp: todayMs - pick.item(AGES_DAYS) * DAY_MS + instant * 1000,
      latitude: pick.decimal(42.1, 42.6, 5),
      longitude: pick.decimal(-71.4, -70.8, 5),
      horizontal_accuracy: pick.integer(1, 50),
      battery_level: pick.integer(0, 100),
    };
  }
  return {
    turn() {},
    nextBatch: () => Array.from({ length: pick.integer(1, BATCH_REPORTS_MAX) }, report),
  };
}
