import { type Client, findWrongAnswers } from "../../runtime/support/client.ts";
import { createPlainFleet, type PlainFleet } from "../../runtime/support/plain-fleet.ts";
import { deviceHistory } from "../../runtime/support/plain-histories.ts";
import { appCurrent } from "../../runtime/support/plain-positions.ts";
import { lastPage, type Question, randomQuestions } from "../../runtime/support/questions.ts";
import type { Picker } from "../../runtime/support/random.ts";
import { pathOf } from "../../support/test-app.ts";

const PAGE = 1000;
const MS_PER_DAY = 86_400_000;
const RANGE_DAYS = 300;
const QUESTIONS_OF_EACH = 2;

/** Every record of these devices, field by field and exactly once, and how many records there are in all. */
export function checkDevices(
  client: Client,
  fleet: PlainFleet,
  deviceIds: Iterable<string>,
): Promise<string[]> {
  const questions = [...deviceIds].flatMap((deviceId) => devicePages(fleet, deviceId));
  return findWrongAnswers(client, [...questions, ...currentPages(fleet), ...totals(fleet)]);
}

/** The same of all devices, and random questions of every endpoint. */
export function checkAll(client: Client, fleet: PlainFleet, pick: Picker): Promise<string[]> {
  const questions = fleet.deviceIds().flatMap((deviceId) => devicePages(fleet, deviceId));
  const others = createPlainFleet("nobody");
  const random =
    fleet.deviceIds().length === 0 ? [] : randomQuestions(fleet, others, pick, QUESTIONS_OF_EACH);
  return findWrongAnswers(client, [...questions, ...currentPages(fleet), ...totals(fleet), ...random]);
}

function devicePages(fleet: PlainFleet, deviceId: string): Question[] {
  const [start_date, end_date] = [-RANGE_DAYS, 1].map((days) =>
    new Date(Date.now() + days * MS_PER_DAY).toISOString().slice(0, 10),
  );
  const path = `/api/v1/devices/${encodeURIComponent(deviceId)}/locations/history`;
  return offsetsOf(fleet.recordsOf(deviceId)).map((offset) => {
    const query = { start_date: start_date!, end_date: end_date!, limit: PAGE, offset };
    return { path: pathOf(path, query), answer: (now) => deviceHistory(fleet, deviceId, query, now) };
  });
}

function currentPages(fleet: PlainFleet): Question[] {
  return offsetsOf(fleet.deviceIds()).map((offset) => {
    const query = { limit: PAGE, offset };
    return { path: pathOf("/api/v1/locations/current", query), answer: () => appCurrent(fleet, query) };
  });
}

/** No record too many, of devices that nobody asks about either. */
function totals(fleet: PlainFleet): Question[] {
  return fleet.deviceIds().length === 0 ? [] : [lastPage(fleet, Date.now())];
}

function offsetsOf(items: readonly unknown[]): number[] {
  return Array.from({ length: Math.ceil(items.length / PAGE) }, (_, page) => page * PAGE);
}
