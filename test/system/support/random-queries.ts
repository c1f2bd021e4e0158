import type { Parameters, ReferenceQuery } from "../../reference/query.ts";
import type { ReferenceRecords } from "../../reference/records.ts";
import { PHONES, USERS } from "./phone-reports.ts";
import { given, type Picker } from "./random.ts";

const MS_PER_DAY = 86_400_000;
const ZONES = [
  ...["America/New_York", "Europe/Berlin", "Asia/Kolkata", "Asia/Kathmandu", "Australia/Lord_Howe"],
  ...["+05:30", "-09:30", "PST", "UTC", "GMT"],
];

/** Random queries about an app, as many of each endpoint; some are about devices that only `others` has. */
export function randomQueries(
  fleet: ReferenceRecords,
  others: ReferenceRecords,
  pick: Picker,
  countOfEach: number,
): ReferenceQuery[] {
  const deviceIds = fleet.deviceIds();
  const records = fleet.records();
  const { limit, zone, meters, historyQuery } = parameterPicks(fleet, pick);
  const strangers = ["unknown", ...others.deviceIds()];
  const anyDevice = () =>
    pick.item([pick.item(deviceIds), pick.item(deviceIds), pick.item(PHONES), pick.item(strangers)]);

  const kinds: readonly (() => ReferenceQuery)[] = [
    () => ({
      endpoint: "deviceCurrent",
      device: anyDevice(),
      parameters: given<Parameters>({ timezone: zone() }),
    }),
    () => {
      const device = anyDevice();
      const offsetMax = Math.floor(fleet.recordsOf(device).length * 1.1);
      const parameters = given<Parameters>({ ...historyQuery(offsetMax, true), min_accuracy: meters(100) });
      return { endpoint: "deviceHistory", device, parameters };
    },
    () => ({
      endpoint: "userCurrent",
      user: pick.item(USERS),
      parameters: given<Parameters>({
        max_age: pick.maybe(0.5, () => pick.integer(0, 200_000)),
        accuracy: meters(100),
        limit: limit(),
        timezone: zone(),
      }),
    }),
    () => ({ endpoint: "userHistory", user: pick.item(USERS), parameters: historyQuery(50, true) }),
    () => ({
      endpoint: "userDevices",
      user: pick.item(USERS),
      parameters: given<Parameters>({
        active_only: pick.maybe(0.7, () => pick.item([true, false])),
        max_age: pick.maybe(0.5, () => pick.integer(0, 200_000)),
      }),
    }),
    () => ({
      endpoint: "appCurrent",
      parameters: given<Parameters>({
        timestamp_after: pick.maybe(0.4, () => pick.item(records).timestamp),
        timestamp_before: pick.maybe(0.4, () => pick.item(records).timestamp),
        offset: pick.maybe(0.5, () => pick.integer(0, deviceIds.length)),
        limit: limit(),
        timezone: zone(),
      }),
    }),
    () => ({
      endpoint: "appHistory",
      parameters: given<Parameters>({ ...historyQuery(records.length, false), min_accuracy: meters(100) }),
    }),
    () => {
      const atDevice = pick.maybe(0.3, () => fleet.recordsOf(pick.item(deviceIds)).at(-1)!);
      const parameters = given<Parameters>({
        latitude: atDevice?.latitude ?? pick.decimal(42.1, 42.6, 5),
        longitude: atDevice?.longitude ?? pick.decimal(-71.4, -70.8, 5),
        radius_miles: pick.maybe(0.8, () => pick.item([0, pick.decimal(0, 5, 2), pick.decimal(5, 50, 1)])),
        max_age_hours: pick.maybe(0.7, () => pick.item([pick.decimal(0, 30, 2), 8760])),
        min_accuracy: meters(100),
        offset: pick.maybe(0.5, () => pick.integer(0, 300)),
        limit: limit(),
        timezone: zone(),
      });
      return { endpoint: "nearby", parameters };
    },
  ];
  return Array.from({ length: countOfEach }, () => kinds.map((create) => create())).flat();
}

/** Parameters that several endpoints have. */
function parameterPicks(fleet: ReferenceRecords, pick: Picker) {
  const records = fleet.records();
  const limit = () => pick.maybe(0.7, () => pick.integer(1, pick.item([5, 100, 1000])));
  const zone = () => pick.maybe(0.4, () => pick.item(ZONES));
  const meters = (maximum: number) => pick.maybe(0.3, () => pick.integer(0, maximum));

  /** Around the day of a record, or today; a single day where a distance is asked for. */
  function historyQuery(offsetMax: number, withDistance: boolean): Parameters {
    const day = pick.maybe(0.8, () => pick.item(records).timestamp);
    const distance_travelled = withDistance ? pick.maybe(0.4, () => pick.item([true, false])) : undefined;
    const [before, after] = distance_travelled === true ? [0, 0] : [pick.integer(0, 2), pick.integer(0, 300)];
    return given<Parameters>({
      start_date: day === undefined ? undefined : dateOf(day - before * MS_PER_DAY),
      end_date: day === undefined ? undefined : dateOf(day + after * MS_PER_DAY),
      limit: limit(),
      offset: pick.maybe(0.7, () => pick.integer(0, pick.item([10, offsetMax]))),
      order: pick.maybe(0.5, () => pick.item(["asc", "desc"] as const)),
      timezone: zone(),
      distance_travelled,
    });
  }

  return { limit, zone, meters, historyQuery };
}

/**
 * The newest record of the whole retention as the last of a page: tells how many there are, and so that none is too
 * many.
 */
export function lastPage(fleet: ReferenceRecords, nowMs: number): ReferenceQuery {
  const parameters = {
    start_date: dateOf(nowMs - 364 * MS_PER_DAY),
    end_date: dateOf(nowMs + MS_PER_DAY),
    offset: fleet.records().length - 1,
    limit: 1,
  };
  return { endpoint: "appHistory", parameters };
}

function dateOf(timestampMs: number): string {
  return new Date(timestampMs).toISOString().slice(0, 10);
}
