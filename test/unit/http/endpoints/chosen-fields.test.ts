import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FieldChoice } from "../../../../src/model/field-choice.ts";
import type { ResponseKind } from "../../../../src/model/location-fields.ts";
import { MS_PER_DAY, MS_PER_HOUR } from "../../../../src/model/time/units.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import * as fc from "../../../support/fast-check.ts";
import { type JsonObject, type KeyName, NOON_MS } from "../../../support/test-app.ts";
import { READ_PATHS, withParameter } from "../requests.ts";

/** `fields`: the chosen fields of each record and nothing else changed, from memory, the archive and both. */

afterAll(removeArchiveApps);

const KINDS = {
  userCurrent: "current",
  userHistory: "userHistory",
  deviceCurrent: "deviceCurrent",
  deviceHistory: "deviceHistory",
  appCurrent: "current",
  appHistory: "appHistory",
  nearby: "current",
} as const satisfies Partial<Record<keyof typeof READ_PATHS, ResponseKind>>;
const ENDPOINTS = Object.keys(KINDS) as (keyof typeof KINDS)[];

const FULL = {
  ...{ user_id: "driver", horizontal_accuracy: 4.8, vertical_accuracy: 3, altitude: -5.5, speed: 8.25 },
  ...{ bearing: 58, battery_level: 81, type: "MOVING", battery_status: "Charging", network_status: true },
  ...{ location_permission: false, is_mock: false, tracking_mode: "PRECISE", tz_offset: "-0330" },
  ...{ brand: "Google", model: 'Pixel "8"', os: "android", os_version: "15" },
  ...{ sdk_version: "3.2.1", app_version_name: "5.4.0", app_version_code: "50400" },
};
const OPTIONAL = Object.keys(FULL) as (keyof typeof FULL)[];

/** Every report lacks another set of fields. */
function reportOf(device_id: string, index: number, timestamp: number) {
  const some = OPTIONAL.filter((_, field) => (index * 7 + field * 3) % 5 > 0 || field === 0);
  return {
    ...Object.fromEntries(some.map((name) => [name, FULL[name]])),
    ...{ device_id, timestamp, latitude: 53.4 + index / 1e6, longitude: -2.9 - index / 1e6 },
  };
}

let app: ArchiveApp;
beforeAll(async () => {
  app = await createArchiveApp({ startMs: NOON_MS - 12 * MS_PER_DAY });
  const devices = ["bus", "tram", 'ü"\u{1F68C}'];
  for (let day = 12; day >= 0; day--) {
    const hours = [3, 2, 1].map((hour) => NOON_MS - day * MS_PER_DAY - hour * MS_PER_HOUR);
    await app.store(hours.flatMap((ms, i) => devices.map((id, d) => reportOf(id, day * 9 + i * 3 + d, ms))));
    if (day > 0) app.clock.advance(MS_PER_DAY);
  }
  await app.seal();
  // Late rows: new ones, and others over archived records.
  const lateMs = NOON_MS - 11 * MS_PER_DAY;
  await app.store([
    reportOf("bus", 200, lateMs),
    { device_id: "bus", timestamp: lateMs - MS_PER_HOUR, latitude: 53.4, longitude: -2.9, speed: 99 },
  ]);
});
afterAll(() => app.close());

async function ask(path: string, key: KeyName = "full") {
  const { status, body } = await app.get(path, key);
  return { status, body: body as JsonObject };
}

/** An answer without what is measured, and without other fields of its records. */
function withFields(body: JsonObject, fields: readonly string[] | null): string {
  const stays = (name: string) => fields === null || [...fields, "device_id", "timestamp"].includes(name);
  const cut = (record: JsonObject) =>
    Object.fromEntries(
      Object.entries(record).filter(([name]) => stays(name) || name === "local_time" || name === "place"),
    );
  return JSON.stringify(body, (name, value) => {
    if (name === "query_time_ms" || name === "data_scanned_mb") return undefined;
    if (name === "location") return cut(value);
    return name === "locations" ? value.map(cut) : value;
  });
}

/** Parameters of each endpoint that change what is answered. */
const MORE: Readonly<Record<keyof typeof KINDS, readonly string[]>> = {
  userCurrent: ["", "places=true", "timezone=Asia/Kathmandu", "limit=2", "accuracy=3"],
  userHistory: ["", "order=desc&offset=3&limit=20", "distance_travelled=true&end_date=2026-03-10"],
  deviceCurrent: ["", "places=true&timezone=UTC", "timezone=Asia/Kathmandu"],
  deviceHistory: ["", "limit=7&offset=2", "min_accuracy=2", "timezone=UTC&order=desc"],
  appCurrent: ["", "places=true", "timezone=Asia/Kathmandu", "offset=1&limit=1", "limit=1&offset=9"],
  appHistory: ["", "min_accuracy=2&limit=9", "order=desc&timezone=+05:30".replace("+", "%2B")],
  nearby: ["", "places=true&timezone=UTC", "limit=1&offset=1", "radius_miles=0"],
};
/** From the archive, from both and from memory. */
const STARTS = ["2026-03-09", "2026-03-15", "2026-03-20"];

function paths(endpoint: keyof typeof KINDS): readonly string[] {
  const isHistory = KINDS[endpoint].endsWith("History");
  const dated = isHistory ? STARTS.map((day) => `start_date=${day}`) : [""];
  return dated.flatMap((dates) =>
    MORE[endpoint].map((more) => {
      const isOneDay = more.includes("end_date");
      return withParameter(READ_PATHS[endpoint], `${isOneDay ? "start_date=2026-03-10" : dates}&${more}`);
    }),
  );
}

describe.each(ENDPOINTS)("%s", (endpoint) => {
  const known = new FieldChoice(KINDS[endpoint]).names;

  test("answers with the chosen fields as without the parameter, less the other fields", async () => {
    const subsets = fc.array(fc.subarray([...known], { minLength: 1 }), { minLength: 4, maxLength: 8 });
    for (const path of paths(endpoint)) {
      const whole = await ask(path);
      expect(whole.status).toBe(200);
      await fc.assert(
        fc.asyncProperty(subsets, async (choices) => {
          for (const names of [["latitude", "longitude"], ["device_id"], ...choices]) {
            const mixed = names.toReversed();
            const { status, body } = await ask(withParameter(path, `fields=${mixed.join()}`));
            expect([status, withFields(body, null)]).toEqual([200, withFields(whole.body, names)]);
          }
        }),
        { numRuns: 3 },
      );
    }
  });

  test("shows device_id and timestamp whatever is chosen, and all of it without a choice", async () => {
    const path = paths(endpoint)[0]!;
    const { body } = await ask(withParameter(path, "fields=device_id"));
    const records = recordsOf(body);
    expect(records.length).toBeGreaterThan(0);
    for (const record of records) expect(Object.keys(record)).toEqual(["device_id", "timestamp"]);
    const all = await ask(withParameter(path, `fields=${known.join()}`));
    expect(withFields(all.body, null)).toBe(withFields((await ask(path)).body, null));
  });

  test("takes names apart or encoded, and refuses unknown, empty, spaced and repeated ones", async () => {
    const path = paths(endpoint)[0]!;
    const expected = withFields((await ask(withParameter(path, "fields=speed,altitude"))).body, null);
    for (const same of [
      "fields=speed%2Caltitude",
      "fields=altitude&fields=speed",
      "%66ields=sp%65ed,altitude",
    ])
      expect(withFields((await ask(withParameter(path, same))).body, null)).toBe(expected);

    const list = `fields must be of ${known.join(", ")}`;
    const refused = [
      "velocity",
      "",
      ",",
      "speed,",
      ",speed",
      "speed,,altitude",
      "speed altitude",
      "speed,+altitude",
    ];
    refused.push(" speed", "Speed", "local_time", "place", "*", "all", known.join().repeat(40), "__proto__");
    refused.push(known.includes("app_id") ? "appId" : "app_id");
    for (const text of refused) {
      const { status, body } = await ask(withParameter(path, `fields=${encodeURI(text)}`));
      expect([text, status, body.message]).toEqual([text, 400, list]);
    }
    for (const twice of ["fields=speed,altitude,speed", "fields=speed&fields=speed"]) {
      const { status, body } = await ask(withParameter(path, twice));
      expect([status, body.message]).toEqual([400, "fields must name each once"]);
    }
  });
});

function recordsOf({ location, locations, results }: JsonObject): readonly JsonObject[] {
  if (location !== undefined) return [location as JsonObject];
  if (locations !== undefined) return locations as readonly JsonObject[];
  return (results as readonly { readonly location: JsonObject }[]).map((result) => result.location);
}

describe.each(["viewer", "blurredViewer"] as const)("%s", (key) => {
  test.each(["appCurrent", "deviceCurrent"] as const)(
    "sees of %s what it shows and was chosen",
    async (endpoint) => {
      const names = new FieldChoice(KINDS[endpoint]).names;
      for (const more of ["", "timezone=UTC&places=true"]) {
        const path = withParameter(READ_PATHS[endpoint], more);
        const whole = await ask(path, key);
        expect(recordsOf(whole.body)).toHaveLength(1);
        await fc.assert(
          fc.asyncProperty(fc.subarray([...names], { minLength: 1 }), async (chosen) => {
            const { status, body } = await ask(withParameter(path, `fields=${chosen.join()}`), key);
            expect([status, withFields(body, null)]).toEqual([200, withFields(whole.body, chosen)]);
          }),
          { numRuns: 20 },
        );
      }
    },
  );
});

test("an archived page reads less of the files if it shows fewer fields", async () => {
  const path = `${READ_PATHS.deviceHistory}?start_date=2026-03-09&end_date=2026-03-09`;
  const scanned = async (query: string) => {
    const { body } = await ask(`${path}${query}`);
    return (body.query_info as { readonly data_scanned_mb: number }).data_scanned_mb;
  };
  expect(await scanned("&fields=speed")).toBeLessThan(await scanned(""));
});
