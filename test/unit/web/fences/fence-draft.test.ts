import { expect, test } from "bun:test";
import type { Fence, FenceProperties } from "../../../../src/web/fences/fence.ts";
import {
  bodyOf,
  draftOf,
  faultOf,
  NEW_DRAFT,
  withCircle,
  withPolygon,
} from "../../../../src/web/fences/fence-draft.ts";

function circle(properties: FenceProperties): Fence {
  const more = { active: true, initial: "none", ...properties } as const;
  return {
    ...{ type: "Feature", id: "1", updated: 1, geometry: { type: "Point", coordinates: [10, 50] } },
    properties: { radius_meters: 100, ...more },
  };
}

test("what is not changed is stored again as it was, also what the form does not show", () => {
  const weekly = [{ days: ["mon"], from: "08:00", to: "18:00" }];
  for (const properties of [
    {},
    {
      name: "Depot",
      color: "#112233",
      tags: ["a"],
      metadata: { key: [1] },
      devices: ["van"],
      description: "x",
    },
    { dwell_seconds: 45, silence_minutes: 30, confirm_seconds: 5, confirmations: 2 },
    { accuracy_meters_max: 55.5, exit_buffer_meters: 0, initial: "event", active: false },
    { schedule: { timezone: "Europe/Berlin", weekly } },
    { schedule: { timezone: "Europe/Berlin", weekly: [...weekly, ...weekly], except: ["2026-12-25"] } },
  ] as const) {
    const fence = circle(properties);
    expect(bodyOf(draftOf(fence))).toEqual({
      type: "Feature",
      geometry: fence.geometry,
      properties: fence.properties,
    });
  }
});

test("minutes of the form are the server's seconds, and an empty number is the server's default", () => {
  const draft = draftOf(circle({ dwell_seconds: 600, confirmations: 3 }));
  expect(draft.numbers.dwell_seconds).toBe("10");
  const numbers = { ...draft.numbers, dwell_seconds: " 0.1", confirmations: "" };
  const { properties } = bodyOf({ ...draft, numbers })!;
  expect([properties.dwell_seconds, "confirmations" in properties]).toEqual([6, false]);
});

test("a draft without a shape can't be sent; a drawn shape is in the range of the API", () => {
  expect(bodyOf(NEW_DRAFT)).toBeNull();
  const across = withCircle(NEW_DRAFT, [181.123456789, 50], 99.6);
  expect(bodyOf(across)).toMatchObject({
    geometry: { type: "Point", coordinates: [-178.8765432, 50] },
    properties: { radius_meters: 100 },
  });
  const ring: [number, number][] = [
    [0, 0],
    [1, 0],
    [1, 1],
    [0, 0],
  ];
  const polygon = withPolygon(across, ring);
  expect(bodyOf(polygon)!.properties).not.toHaveProperty("radius_meters"); // It is of circles alone.
});

test("an error of the server stands beside the member that it names", () => {
  expect(faultOf("properties.radius_meters must be a number, 10 to 100,000")).toEqual({
    member: "radius_meters",
    text: "radius_meters must be a number, 10 to 100,000.",
  });
  expect(faultOf("properties.schedule.weekly[0].days must be a list of 1 to 7 items").member).toBe(
    "schedule",
  );
  expect(faultOf("geometry.coordinates[0][2]: the ring crosses or touches itself")).toEqual({
    member: "geometry",
    text: "The ring crosses or touches itself.",
  });
  expect(faultOf("geometry.coordinates covers more than half of the earth").member).toBe("geometry");
  expect(faultOf("properties.metadata must be an object").member).toBeNull();
  expect(faultOf("the app has 100,000 geofences")).toEqual({
    member: null,
    text: "The app has 100,000 geofences.",
  });
});
