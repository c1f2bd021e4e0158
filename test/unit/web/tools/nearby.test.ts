import { expect, test } from "bun:test";
import type { Query } from "../../../../src/web/api/api.ts";
import { ApiError } from "../../../../src/web/api/api-error.ts";
import { Retries } from "../../../../src/web/api/retries.ts";
import type { Place } from "../../../../src/web/geo/earth.ts";
import type { Units } from "../../../../src/web/geo/units.ts";
import { Nearby } from "../../../../src/web/tools/nearby.ts";
import { VirtualTime } from "../../../support/stream/virtual-time.ts";
import { turns } from "../../../support/turns.ts";

const BOUNDS = { west: 170, south: -20, east: 190, north: -19.96 };

interface Asked {
  readonly query: Query;
  readonly signal: AbortSignal | undefined;
  readonly answer: PromiseWithResolvers<unknown>;
}

/** A server that answers when it is told to, a map that remembers, and devices in rows by their number. */
function setUp() {
  const time = new VirtualTime();
  const retries = new Retries(() => 1_000_000, time);
  const asked: Asked[] = [];
  const circles: unknown[] = [];
  let click: ((at: Place) => void) | null = null;
  const settings = { units: "miles" as Units };
  const nearby = new Nearby({
    api: {
      retries,
      get<Body>(path: string, query: Query = {}, signal?: AbortSignal): Promise<Body> {
        expect(path).toBe("/api/v1/devices/nearby");
        const answer = Promise.withResolvers<unknown>();
        signal?.addEventListener("abort", () => answer.reject(signal.reason));
        asked.push({ query, signal, answer });
        return answer.promise as Promise<Body>;
      },
    },
    map: {
      camera: { latitude: -19.98, longitude: 180, zoom: 5, bounds: BOUNDS },
      takeNextClick: (handler) => {
        click = handler;
      },
      setCircle: (circle, rows) => circles.push(circle === null ? null : { ...circle, rows }),
    },
    devices: { rowOf: (id) => (id === "gone" ? undefined : Number(id.slice(1))) },
    settings,
    changed: () => undefined,
    timers: time,
  });
  return {
    time,
    retries,
    settings,
    nearby,
    asked,
    circles,
    clickAt: (at: Place) => click?.(at),
    isAiming: () => click !== null,
  };
}

function answer(ids: readonly string[], total: number, hasMore: boolean) {
  const results = ids.map((device_id, index) => {
    return { device_id, distance_miles: index + 1, bearing_degrees: 90, location: { timestamp: 5 } };
  });
  return { results, pagination: { has_more: hasMore, total_matches: total } };
}

async function answered({ answer: { resolve } }: Asked, value: unknown): Promise<void> {
  resolve(value);
  await turns();
}

test("a click asks round it, and shows what the endpoint says in its order", async () => {
  const { nearby, asked, circles, clickAt, isAiming } = setUp();
  nearby.aim();
  expect([nearby.state, asked.length, isAiming()]).toEqual(["aiming", 0, true]);
  clickAt({ latitude: 10, longitude: 540.5 });
  expect(isAiming()).toBeFalse();
  expect(asked[0]!.query).toEqual({
    latitude: 10,
    longitude: -179.5,
    radius_miles: 1,
    max_age_hours: 24,
    limit: 50,
    offset: 0,
  });
  await answered(asked[0]!, answer(["d7", "d3"], 2, false));
  expect(nearby.state).toBe("loaded");
  expect(nearby.matches.map(({ id, distanceMeters }) => [id, distanceMeters])).toEqual([
    ["d7", 1609.344],
    ["d3", 3218.688],
  ]);
  expect(nearby.total).toBe(2);
  expect(circles.at(-1)).toEqual({ latitude: 10, longitude: -179.5, radiusMeters: 1609.344, rows: [7, 3] });
});

test("more is asked for behind what is there; who moved across the pages is shown once", async () => {
  const { nearby, asked } = setUp();
  nearby.aroundMiddle();
  await answered(asked[0]!, answer(["d1", "d2"], 4, true));
  nearby.more();
  expect(asked[1]!.query.offset).toBe(2);
  expect(nearby.matches.length).toBe(2);
  await answered(asked[1]!, answer(["d2", "d3"], 4, false));
  expect(nearby.matches.map(({ id }) => id)).toEqual(["d1", "d2", "d3"]);
  expect(nearby.hasMore).toBeFalse();
});

test("another unit asks again, for a circle of about the same size", async () => {
  const { nearby, asked, settings, time } = setUp();
  nearby.setUnits();
  nearby.aroundMiddle();
  nearby.setRadius(10);
  settings.units = "metric";
  nearby.setUnits();
  expect([nearby.units, nearby.radius]).toEqual(["metric", 20]);
  nearby.setRadius(80);
  settings.units = "miles";
  nearby.setUnits();
  await time.pass(150);
  expect([nearby.units, nearby.radius]).toEqual(["miles", 50]);
  expect(asked.at(-1)!.query.radius_miles).toBe(50);
});

test("another place or radius drops the older question", async () => {
  const { nearby, asked, time } = setUp();
  nearby.aroundMiddle();
  nearby.around({ latitude: 1, longitude: 2 });
  expect(asked.map(({ signal }) => signal?.aborted)).toEqual([true, false]);
  nearby.setRadius(3);
  await time.pass(149);
  nearby.setRadius(4);
  await time.pass(149);
  expect(asked).toHaveLength(2);
  await time.pass(1);
  expect(asked.map(({ query }) => query.radius_miles)).toEqual([1, 1, 4]);
  await answered(asked[2]!, answer([], 0, false));
  expect([nearby.state, nearby.total]).toEqual(["loaded", 0]);
});

test("who aims at another place hears no more of the one before", async () => {
  const { nearby, asked, isAiming, time } = setUp();
  nearby.aroundMiddle();
  nearby.aim();
  await answered(asked[0]!, answer(["d1"], 1, false));
  expect([nearby.state, isAiming(), asked[0]!.signal?.aborted]).toEqual(["aiming", true, true]);
  nearby.around({ latitude: 1, longitude: 2 });
  await answered(asked[1]!, answer(["d1"], 1, false));
  nearby.setRadius(2);
  nearby.aim();
  await time.pass(1000);
  expect([nearby.state, asked.length]).toEqual(["aiming", 2]);
});

test("a device that the page doesn't know is in the list and not on the map", async () => {
  const { nearby, asked, circles } = setUp();
  nearby.aroundMiddle();
  await answered(asked[0]!, answer(["gone", "d4"], 2, false));
  expect(nearby.matches.length).toBe(2);
  expect(circles.at(-1)).toMatchObject({ rows: [4] });
});

test("what the server has against it is said", async () => {
  const { nearby, asked } = setUp();
  nearby.aroundMiddle();
  asked[0]!.answer.reject(new ApiError(400, "radius_miles must be at most 50", { isOurs: true }));
  await turns();
  expect([nearby.state, nearby.fault]).toEqual(["failed", "radius_miles must be at most 50."]);
});

test("a question that did not get through is asked again once the connection is there", async () => {
  const { nearby, asked, retries } = setUp();
  nearby.aroundMiddle();
  asked[0]!.answer.reject(new ApiError(502, "The server answered 502."));
  await turns();
  expect(nearby.fault).toBe("The server answered 502. Trying again…");
  retries.wake();
  await turns();
  await answered(asked[1]!, answer(["d1"], 1, false));
  expect([nearby.state, nearby.fault, nearby.matches.length]).toEqual(["loaded", null, 1]);
});

test("closed, it takes its circle off and wants no click", () => {
  const { nearby, asked, circles, isAiming } = setUp();
  expect(nearby.close()).toBeFalse();
  nearby.aroundMiddle();
  nearby.aim();
  expect(nearby.close()).toBeTrue();
  expect(isAiming()).toBeFalse();
  expect(asked[0]!.signal?.aborted).toBeTrue();
  expect(circles.at(-1)).toBeNull();
});
