import { assert } from "../../../../src/lib/assert.ts";
import { utcDayName, utcDayOf } from "../../../../src/model/time/utc-day.ts";
import type { FullReport } from "../../fleets/fleet.ts";
import { openHttpClient } from "../../servers/http-client.ts";
import { getRequest } from "../../servers/load.ts";
import type { City } from "../city.ts";
import type { Questions } from "../wrk.ts";

const HISTORY = /^\/api\/v1\/(?:(devices|users)\/([^/]+)\/)?locations\/history$/;
const CURRENT_OF_APP = "/api/v1/locations/current";

/** The identity of a record. */
type Known = Readonly<Pick<FullReport, "device_id" | "user_id" | "timestamp" | "latitude">>;

/** The reports of a city by UTC day, in the order of histories. */
export function knownByDay(city: City): ReadonlyMap<string, readonly Known[]> {
  const days = new Map<string, Known[]>();
  for (const { device_id, user_id, timestamp, latitude } of city.reports()) {
    const day = utcDayName(utcDayOf(Number(timestamp)));
    const known = { device_id, user_id, timestamp, latitude } as Known;
    const others = days.get(day);
    if (others === undefined) days.set(day, [known]);
    else others.push(known);
  }
  for (const day of days.values()) {
    day.sort(
      (a, b) =>
        Number(a.timestamp) - Number(b.timestamp) || (String(a.device_id) < String(b.device_id) ? -1 : 1),
    );
  }
  return days;
}

/**
 * Compares pages of histories and of current positions with all reports of a city: the identity and order of records.
 * Returns the number of comparisons.
 */
export async function checkPages(
  url: string,
  city: City,
  days: ReturnType<typeof knownByDay>,
  { paths, headers }: Questions,
): Promise<number> {
  const client = await openHttpClient(url);
  let compared = 0;
  for (const path of paths) {
    const expected = expectedPage(city, days, new URL(path, url));
    if (expected === null) continue;
    const { locations } = JSON.parse((await client.ask(getRequest(url + path, headers))).toString()) as {
      locations: readonly Known[];
    };
    const shown = locations.map(keyOf);
    assert(Bun.deepEquals(shown, expected.map(keyOf)), `${path} has the records of its page`);
    compared++;
  }
  client.close();
  return compared;
}

/** Null for other answers. */
function expectedPage(
  city: City,
  days: ReturnType<typeof knownByDay>,
  { pathname, searchParams }: URL,
): readonly Known[] | null {
  const offset = Number(searchParams.get("offset") ?? 0);
  const end = offset + Number(searchParams.get("limit"));
  if (pathname === CURRENT_OF_APP) {
    const last = Math.min(city.metropolis.latitude.length, end);
    return Array.from(
      { length: last - offset },
      (_, index) => city.metropolis.report(offset + index) as Known,
    );
  }
  const history = HISTORY.exec(pathname);
  if (history === null) return null;
  const [, whose, id] = history;
  const member = whose === "devices" ? "device_id" : "user_id";
  const day = days.get(searchParams.get("start_date")!) ?? [];
  return day.filter((known) => whose === undefined || known[member] === id).slice(offset, end);
}

function keyOf({ device_id, timestamp, latitude }: Known): string {
  return `${device_id} at ${timestamp} in ${latitude}`;
}
