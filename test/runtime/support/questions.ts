import { pathOf } from "../../support/test-app.ts";
import { PHONES, USERS } from "./phone-reports.ts";
import type { PlainFleet } from "./plain-fleet.ts";
import { appHistory, deviceHistory, userHistory } from "./plain-histories.ts";
import type { PlainAnswer, Query } from "./plain-parts.ts";
import { appCurrent, deviceCurrent, nearby, userCurrent, userDevices } from "./plain-positions.ts";
import { given, type Picker } from "./random.ts";

/** A request and what should come back, as of a moment. */
export interface Question {
  readonly path: string;
  answer(nowMs: number): PlainAnswer;
}

const MS_PER_DAY = 86_400_000;
const ZONES = [
  ...["America/New_York", "Europe/Berlin", "Asia/Kolkata", "Asia/Kathmandu", "Australia/Lord_Howe"],
  ...["+05:30", "-09:30", "PST", "UTC", "GMT"],
];

/** Random questions about a fleet, as many of each endpoint; some are about devices that only `others` has. */
export function randomQuestions(
  fleet: PlainFleet,
  others: PlainFleet,
  pick: Picker,
  countOfEach: number,
): Question[] {
  const deviceIds = fleet.deviceIds();
  const records = fleet.records();
  const strangers = ["unknown", ...others.deviceIds()];
  const anyDevice = () =>
    pick.item([pick.item(deviceIds), pick.item(deviceIds), pick.item(PHONES), pick.item(strangers)]);
  const limit = () => pick.maybe(0.7, () => pick.integer(1, pick.item([5, 100, 1000])));
  const zone = () => pick.maybe(0.4, () => pick.item(ZONES));
  const meters = (maximum: number) => pick.maybe(0.3, () => pick.integer(0, maximum));

  function ask(path: string, query: Query, answer: Question["answer"]): Question {
    return { path: pathOf(path, { ...query }), answer };
  }

  /** Around the day of a record, or today; a single day where a distance is asked for. */
  function historyQuery(offsetMax: number, withDistance: boolean): Query {
    const day = pick.maybe(0.8, () => pick.item(records).timestamp);
    const distance_travelled = withDistance ? pick.maybe(0.4, () => pick.item([true, false])) : undefined;
    const [before, after] = distance_travelled === true ? [0, 0] : [pick.integer(0, 2), pick.integer(0, 300)];
    return given<Query>({
      start_date: day === undefined ? undefined : dateOf(day - before * MS_PER_DAY),
      end_date: day === undefined ? undefined : dateOf(day + after * MS_PER_DAY),
      limit: limit(),
      offset: pick.maybe(0.7, () => pick.integer(0, pick.item([10, offsetMax]))),
      order: pick.maybe(0.5, () => pick.item(["asc", "desc"] as const)),
      timezone: zone(),
      distance_travelled,
    });
  }

  const kinds: readonly (() => Question)[] = [
    () => {
      const [deviceId, query] = [anyDevice(), given<Query>({ timezone: zone() })];
      return ask(devicePath(deviceId, "current"), query, () => deviceCurrent(fleet, deviceId, query));
    },
    () => {
      const deviceId = anyDevice();
      const offsetMax = Math.floor(fleet.recordsOf(deviceId).length * 1.1);
      const query = given<Query>({ ...historyQuery(offsetMax, true), min_accuracy: meters(100) });
      return ask(devicePath(deviceId, "history"), query, (now) => deviceHistory(fleet, deviceId, query, now));
    },
    () => {
      const userId = pick.item(USERS);
      const query = given<Query>({
        max_age: pick.maybe(0.5, () => pick.integer(0, 200_000)),
        accuracy: meters(100),
        limit: limit(),
        timezone: zone(),
      });
      return ask(userPath(userId, "locations/current"), query, (now) =>
        userCurrent(fleet, userId, query, now),
      );
    },
    () => {
      const [userId, query] = [pick.item(USERS), historyQuery(50, true)];
      return ask(userPath(userId, "locations/history"), query, (now) =>
        userHistory(fleet, userId, query, now),
      );
    },
    () => {
      const userId = pick.item(USERS);
      const query = given<Query>({
        active_only: pick.maybe(0.7, () => pick.item([true, false])),
        max_age: pick.maybe(0.5, () => pick.integer(0, 200_000)),
      });
      return ask(userPath(userId, "devices"), query, (now) => userDevices(fleet, userId, query, now));
    },
    () => {
      const query = given<Query>({
        timestamp_after: pick.maybe(0.4, () => pick.item(records).timestamp),
        timestamp_before: pick.maybe(0.4, () => pick.item(records).timestamp),
        offset: pick.maybe(0.5, () => pick.integer(0, deviceIds.length)),
        limit: limit(),
        timezone: zone(),
      });
      return ask("/api/v1/locations/current", query, () => appCurrent(fleet, query));
    },
    () => {
      const query = given<Query>({ ...historyQuery(records.length, false), min_accuracy: meters(100) });
      return ask("/api/v1/locations/history", query, (now) => appHistory(fleet, query, now));
    },
    () => {
      const atDevice = pick.maybe(0.3, () => fleet.recordsOf(pick.item(deviceIds)).at(-1)!);
      const query = given<Query>({
        latitude: atDevice?.latitude ?? pick.decimal(42.1, 42.6, 5),
        longitude: atDevice?.longitude ?? pick.decimal(-71.4, -70.8, 5),
        radius_miles: pick.maybe(0.8, () => pick.item([0, pick.decimal(0, 5, 2), pick.decimal(5, 50, 1)])),
        max_age_hours: pick.maybe(0.7, () => pick.item([pick.decimal(0, 30, 2), 8760])),
        min_accuracy: meters(100),
        offset: pick.maybe(0.5, () => pick.integer(0, 300)),
        limit: limit(),
        timezone: zone(),
      });
      return ask("/api/v1/devices/nearby", query, (now) => nearby(fleet, query, now));
    },
  ];
  return Array.from({ length: countOfEach }, () => kinds.map((create) => create())).flat();
}

/** The newest record of the whole retention as the last of a page: tells how many there are, and so that none is too many. */
export function lastPage(fleet: PlainFleet, nowMs: number): Question {
  const query: Query = {
    start_date: dateOf(nowMs - 364 * MS_PER_DAY),
    end_date: dateOf(nowMs + MS_PER_DAY),
    offset: fleet.records().length - 1,
    limit: 1,
  };
  const path = pathOf("/api/v1/locations/history", { ...query });
  return { path, answer: (now) => appHistory(fleet, query, now) };
}

function dateOf(timestampMs: number): string {
  return new Date(timestampMs).toISOString().slice(0, 10);
}

function devicePath(deviceId: string, last: "current" | "history"): string {
  return `/api/v1/devices/${encodeURIComponent(deviceId)}/locations/${last}`;
}

function userPath(userId: string, rest: string): string {
  return `/api/v1/users/${encodeURIComponent(userId)}/${rest}`;
}
