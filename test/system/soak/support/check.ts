import type { ReferenceQuery } from "../../../reference/query.ts";
import { createReferenceRecords, type ReferenceRecords } from "../../../reference/records.ts";
import { type Client, findWrongAnswers } from "../../support/client.ts";
import type { Picker } from "../../support/random.ts";
import { lastPage, randomQueries } from "../../support/random-queries.ts";

const PAGE = 1000;
const MS_PER_DAY = 86_400_000;
const RANGE_DAYS = 300;
const QUERIES_OF_EACH = 2;

/** Every record of these devices, field by field and exactly once. */
export function checkRecords(
  client: Client,
  fleet: ReferenceRecords,
  deviceIds: Iterable<string>,
): Promise<string[]> {
  const queries = [...deviceIds].flatMap((deviceId) => devicePages(fleet, deviceId));
  return findWrongAnswers(client, fleet, queries);
}

/** Checks what `checkRecords()` does, current positions, and the number of all records. */
export function checkDevices(
  client: Client,
  fleet: ReferenceRecords,
  deviceIds: Iterable<string>,
): Promise<string[]> {
  const queries = [...deviceIds].flatMap((deviceId) => devicePages(fleet, deviceId));
  return findWrongAnswers(client, fleet, [...queries, ...currentPages(fleet), ...totals(fleet)]);
}

/** Every record of all devices, and random questions of every endpoint. */
export function checkAll(client: Client, fleet: ReferenceRecords, pick: Picker): Promise<string[]> {
  const queries = fleet.deviceIds().flatMap((deviceId) => devicePages(fleet, deviceId));
  const others = createReferenceRecords("nobody");
  const random = fleet.deviceIds().length === 0 ? [] : randomQueries(fleet, others, pick, QUERIES_OF_EACH);
  return findWrongAnswers(client, fleet, [...queries, ...currentPages(fleet), ...totals(fleet), ...random]);
}

export function devicePages(fleet: ReferenceRecords, deviceId: string): ReferenceQuery[] {
  const [start_date, end_date] = [-RANGE_DAYS, 1].map((days) =>
    new Date(Date.now() + days * MS_PER_DAY).toISOString().slice(0, 10),
  );
  return offsetsOf(fleet.recordsOf(deviceId)).map((offset) => ({
    endpoint: "deviceHistory",
    device: deviceId,
    parameters: { start_date: start_date!, end_date: end_date!, limit: PAGE, offset },
  }));
}

function currentPages(fleet: ReferenceRecords): ReferenceQuery[] {
  return offsetsOf(fleet.deviceIds()).map((offset) => ({
    endpoint: "appCurrent",
    parameters: { limit: PAGE, offset },
  }));
}

/** No record too many, of devices that nobody asks about either. */
function totals(fleet: ReferenceRecords): ReferenceQuery[] {
  return fleet.deviceIds().length === 0 ? [] : [lastPage(fleet, Date.now())];
}

function offsetsOf(items: readonly unknown[]): number[] {
  return Array.from({ length: Math.ceil(items.length / PAGE) }, (_, page) => page * PAGE);
}
