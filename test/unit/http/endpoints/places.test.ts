import { describe, expect, test } from "bun:test";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import { createPlacesLoader } from "../../../../src/map/read-places.ts";
import { createTestApp, NOON_MS, type TestApp } from "../../../support/test-app.ts";
import { withParameter } from "../requests.ts";

/** `places=true`: names of places beside positions, wherever positions are current. */

const PATHS = {
  app: "/api/v1/locations/current",
  user: "/api/v1/users/driver/locations/current",
  device: "/api/v1/devices/bus/locations/current",
  nearby: "/api/v1/devices/nearby?latitude=53.41&longitude=-2.98&radius_miles=50",
};

const BUS = {
  device_id: "bus",
  user_id: "driver",
  latitude: 53.4175,
  longitude: -2.97794,
  timestamp: NOON_MS,
};

/** North of Liverpool's point, 0.00692 degrees of 111,195 m. */
const NEAR_BUS = { name: "Liverpool", country: "GB", distance_miles: 0.4781, bearing_degrees: 0 };

/** In the middle of the Atlantic. */
const SHIP = { device_id: "ship", user_id: "driver", latitude: 0, longitude: -30, timestamp: NOON_MS };

interface Placed {
  readonly place?: unknown;
}

async function appWith(reports: readonly object[]): Promise<TestApp> {
  const app = await createTestApp();
  await app.store(reports as never);
  return app;
}

/** The answer's text, without what is measured. */
async function textOf(app: TestApp, path: string): Promise<string> {
  const response = await app.fetch(path, { headers: { authorization: `Bearer ${app.keys.full}` } });
  return (await response.text()).replace(/"query_time_ms":[\d.e-]+/, "");
}

function locationsOf(body: unknown): readonly Placed[] {
  const { location, locations, results } = body as {
    location?: Placed;
    locations?: readonly Placed[];
    results?: readonly { readonly location: Placed }[];
  };
  return locations ?? results?.map((result) => result.location) ?? [location!];
}

describe.each(Object.entries(PATHS))("%s", (_name, path) => {
  test("names the place that a position is near, in its record", async () => {
    const app = await appWith([BUS]);
    const { status, body } = await app.get(withParameter(path, "places=true"));
    expect(status).toBe(200);
    expect(locationsOf(body).map(({ place }) => place)).toEqual([NEAR_BUS]);
  });

  test("changes nothing else, with and without the local time, and nothing where it isn't asked for", async () => {
    const app = await appWith([BUS, { ...BUS, device_id: "\u00e9\u1f68c", latitude: 53.3, speed: 4 }, SHIP]);
    for (const query of ["", "timezone=Asia/Kathmandu"]) {
      const plain = withParameter(path, query);
      const text = await textOf(app, plain);
      const withPlaces = await textOf(app, withParameter(plain, "places=true"));
      expect(withPlaces.replaceAll(/,"place":(null|\{[^}]*\})/g, "")).toBe(text);
      expect(withPlaces).not.toBe(text);
      expect(await textOf(app, withParameter(plain, "places=false"))).toBe(text);
      expect(text).not.toContain('"place"');
    }
  });

  test("takes true and false alone", async () => {
    const app = await appWith([BUS]);
    const { status, body } = await app.get(withParameter(path, "places=1"));
    expect(status).toBe(400);
    expect(body.message).toBe("places must be true or false");
  });

  test("fails where names of places can't be read, and only for who wants them; then tries again", async () => {
    let isThere = false;
    const faults: unknown[] = [];
    const read = (specifier: string) =>
      isThere ? Bun.file(new URL(specifier)).bytes() : Promise.reject(new Error("no such file"));
    const app = await createTestApp({
      loadPlaces: createPlacesLoader(read, new Scheduler()),
      onFault: (_id, error) => faults.push(error),
    });
    await app.store([BUS]);
    const failed = await app.get(withParameter(path, "places=true"));
    expect(failed.status).toBe(500);
    expect(failed.body.message).toBe("the server failed to answer; its log has the details");
    expect(String(faults[0])).toContain("Cannot read the names of places");
    expect((await app.get(path)).status).toBe(200);
    isThere = true;
    expect((await app.get(withParameter(path, "places=true"))).status).toBe(200);
  });
});

test("no place is near in the middle of an ocean or at a pole", async () => {
  const app = await appWith([SHIP, { ...SHIP, device_id: "pole", latitude: -90, longitude: 180 }]);
  const { body } = await app.get(`${PATHS.app}?places=true`);
  expect(locationsOf(body).map(({ place }) => place)).toEqual([null, null]);
});

test("an app and a circle without devices name no place", async () => {
  const app = await createTestApp();
  for (const path of [PATHS.app, PATHS.user, PATHS.nearby]) {
    const { body } = await app.get(withParameter(path, "places=true"));
    expect(locationsOf(body)).toEqual([]);
  }
  expect((await app.get(`${PATHS.device}?places=true`)).status).toBe(404);
});

test("a page of a thousand names each device's own place, though they move meanwhile", async () => {
  const reports = Array.from({ length: 1000 }, (_, index) => ({
    device_id: `device-${String(index).padStart(4, "0")}`,
    latitude: 53 + index / 1000,
    longitude: -2.98,
    timestamp: NOON_MS,
  }));
  const app = await appWith(reports);
  await app.get(`${PATHS.app}?places=true&limit=1`); // From here on the names are there, and no answer waits for them.
  const asked = app.get(`${PATHS.app}?places=true&limit=1000`);
  await app.store(reports.map((report) => ({ ...report, timestamp: NOON_MS + 1, latitude: 0 })));
  const { body } = await asked;
  const locations = body.locations as unknown as readonly (Placed & {
    readonly latitude: number;
    readonly place: { readonly name: string } | null;
  })[];
  expect(locations).toHaveLength(1000);
  expect(new Set(locations.map(({ place }) => place?.name)).size).toBeGreaterThan(20);
  for (const { latitude, place } of locations)
    expect([latitude, place === null]).toEqual([latitude, latitude === 0]);
});
