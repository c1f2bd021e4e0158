import type { ReferenceReport } from "../../reference/records.ts";
import { given, type Picker } from "./random.ts";

/** Ids whose order, encoding in paths or look as numbers could be got wrong. */
export const PHONES = ["10", "9", "a", "B", "ä", "\uFF21", "\u{1F68C} 7", "50% / half", "..."];
export const USERS = ["driver-1", "driver-2", "Ünï/çode?", "7", "nobody yet"];

const MS_PER_SECOND = 1000;
const SECONDS_PER_DAY = 86_400;

/** What a phone says of itself: any of the fields, or none. */
export function phoneMembers(pick: Picker) {
  return given({
    user_id: pick.maybe(0.8, () => pick.item(USERS.slice(0, -1))),
    horizontal_accuracy: pick.maybe(0.8, () => pick.decimal(0, 100, 2)),
    vertical_accuracy: pick.maybe(0.5, () => pick.decimal(0, 30, 1)),
    altitude: pick.maybe(0.5, () => pick.decimal(-100, 9000, 3)),
    speed: pick.maybe(0.5, () => pick.decimal(0, 90, 2)),
    bearing: pick.maybe(0.5, () => pick.decimal(0, 360, 1)),
    battery_level: pick.maybe(0.5, () => pick.integer(0, 100)),
    battery_status: pick.maybe(0.5, () => pick.item(["Charging", "Not Charging"])),
    type: pick.maybe(0.5, () => pick.item(["MOVING", "STATIONARY", ""])),
    network_status: pick.maybe(0.5, () => pick.item([true, false])),
    location_permission: pick.maybe(0.5, () => pick.item([true, false])),
    is_mock: pick.maybe(0.5, () => pick.item([true, false])),
    tracking_mode: pick.maybe(0.5, () => pick.item(["PRECISE", "BALANCED"])),
    tz_offset: pick.maybe(0.5, () => pick.item(["-300", "+60", "0"])),
    brand: pick.maybe(0.3, () => pick.item(["Google", 'quo"te\\'])),
    model: pick.maybe(0.3, () => pick.item(["Pixel 8", "手机"])),
    os: pick.maybe(0.3, () => "android"),
    os_version: pick.maybe(0.3, () => pick.item(["14", "15"])),
    sdk_version: pick.maybe(0.3, () => "3.2.1"),
    app_version_name: pick.maybe(0.3, () => "5.4.0"),
    app_version_code: pick.maybe(0.3, () => "50400"),
  });
}

/**
 * Reports of phones and of known devices: some repeat the time of a known report, and so lay more over it, most are
 * of the last days, some of the last months. All times are whole seconds.
 */
export function phoneReports(pick: Picker, count: number, known: readonly ReferenceReport[], nowMs: number) {
  const nowSeconds = Math.floor(nowMs / MS_PER_SECOND);
  return Array.from({ length: count }, (): ReferenceReport => {
    const place = { latitude: pick.decimal(42.1, 42.6, 6), longitude: pick.decimal(-71.4, -70.8, 6) };
    const repeated = pick.maybe(0.2, () => pick.item(known));
    const device_id = repeated?.device_id ?? pick.item([...PHONES, pick.item(known).device_id]);
    const ageSeconds = pick.integer(-300, pick.item([3600, SECONDS_PER_DAY, 300 * SECONDS_PER_DAY]));
    const timestamp = repeated?.timestamp ?? (nowSeconds - ageSeconds) * MS_PER_SECOND;
    return { device_id, timestamp, ...place, ...phoneMembers(pick) };
  });
}
