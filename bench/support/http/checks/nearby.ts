import { assert } from "../../../../src/lib/assert.ts";
import { FieldChoice } from "../../../../src/model/field-choice.ts";
import { METERS_PER_MILE } from "../../../../src/model/geo/distance.ts";
import { createLinearScan } from "../../finding/linear-scan.ts";
import type { FullReport } from "../../fleets/fleet.ts";
import type { Metropolis } from "../../fleets/metropolis.ts";
import { openHttpClient } from "../../servers/http-client.ts";
import { getRequest } from "../../servers/load.ts";
import type { NearbyKind, NearbyQuestions } from "../nearby-kinds.ts";

const MS_PER_HOUR = 3_600_000;
const DISTANCE_ERROR_MILES = 0.0001; // Answers have four decimals.

interface NearbyBody {
  readonly results: readonly {
    readonly device_id: string;
    readonly distance_miles: number;
    readonly location: Readonly<Record<string, unknown>>;
  }[];
  readonly pagination: { readonly count: number; readonly total_matches: number };
}

/**
 * Compares answers with a scan of all devices and their reports as plain objects: order, distances, values and the
 * total. Returns the number of comparisons. If a device became too old in the meantime, either answer is right.
 */
export async function checkNearby(
  url: string,
  metropolis: Metropolis,
  { kind, asked, headers }: NearbyQuestions,
  checked: number,
): Promise<number> {
  const scan = createLinearScan(metropolis);
  const client = await openHttpClient(url);
  let compared = 0;
  for (const { center, ageHours, path } of asked.slice(0, checked)) {
    const beforeMs = Date.now() - ageHours * MS_PER_HOUR;
    const body = JSON.parse((await client.ask(getRequest(url + path, headers))).toString()) as NearbyBody;
    const afterMs = Date.now() - ageHours * MS_PER_HOUR;
    if (metropolis.timestampMs.some((timestampMs) => timestampMs >= beforeMs && timestampMs <= afterMs))
      continue;
    const { count, devices, meters, matches } = scan.find({
      ...center,
      radiusMeters: kind.miles * METERS_PER_MILE,
      oldestMs: beforeMs,
      accuracyMetersMax: Number.POSITIVE_INFINITY,
      offset: 0,
      limit: kind.limit,
    });
    const { results, pagination } = body;
    assert(pagination.total_matches === matches, `${path} finds ${matches}, not ${pagination.total_matches}`);
    assert(pagination.count === count && results.length === count, `${path} has ${count} on its page`);
    results.forEach(({ device_id, distance_miles, location }, row) => {
      const device = devices[row]!;
      assert(device_id === metropolis.deviceId(device), `${path} has ${device} at ${row}, not ${device_id}`);
      const errorMiles = Math.abs(distance_miles - meters[row]! / METERS_PER_MILE);
      assert(errorMiles < DISTANCE_ERROR_MILES, `${path} is ${errorMiles} miles off at ${row}`);
      const { app_id, local_time, ...fields } = location;
      assert(
        (local_time !== undefined) === (kind.timezone !== undefined),
        `${path} has local times if asked`,
      );
      assert(
        Bun.deepEquals(fields, nearbyFieldsOf(metropolis.report(device), kind)),
        `${path} has what ${device_id} reported`,
      );
    });
    compared++;
  }
  client.close();
  return compared;
}

/** The fields of a report that nearby returns. */
function nearbyFieldsOf(report: FullReport, kind: NearbyKind): FullReport {
  const { names } = new FieldChoice("current", kind.fields?.split(",") ?? null);
  return Object.fromEntries(names.filter((name) => name in report).map((name) => [name, report[name]!]));
}
