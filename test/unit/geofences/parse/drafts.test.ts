import { expect, test } from "bun:test";
import { parseAlert, parseFence } from "../../../../src/geofences/parse/drafts.ts";
import * as fc from "../../../support/fast-check.ts";

type Members = Readonly<Record<string, unknown>>;

const SQUARE = [
  [0, 0],
  [4, 0],
  [4, 4],
  [0, 4],
  [0, 0],
];

function polygon(...rings: readonly unknown[]): Members {
  return { type: "Polygon", coordinates: rings };
}

function faultOf(geometry: unknown, properties: Members = {}, more: Members = {}): string {
  const parsed = parseFence({ type: "Feature", geometry, properties, ...more });
  return parsed.ok ? "" : parsed.error;
}

/** A square with its lower left corner at (x, y). */
function square(x: number, y: number, size: number): number[][] {
  return [
    [x, y],
    [x + size, y],
    [x + size, y + size],
    [x, y + size],
    [x, y],
  ];
}

const CIRCLE = { type: "Point", coordinates: [1, 2] };

test("parseFence() names the path of each wrong member, and its bounds", () => {
  const faults: readonly (readonly [string, string])[] = [
    [faultOf(CIRCLE), "properties.radius_meters is required for a Point: 10 to 100,000"],
    [faultOf(CIRCLE, { radius_meters: 9 }), "properties.radius_meters must be a number, 10 to 100,000"],
    [faultOf(CIRCLE, { radius_meters: 100_001 }), "properties.radius_meters must be a number, 10 to 100,000"],
    [
      faultOf({ type: "Point", coordinates: [181, 2] }, { radius_meters: 10 }),
      "geometry.coordinates must have a longitude from -180 to 180",
    ],
    [
      faultOf(polygon([...SQUARE.slice(0, 4), [0, 90.5]])),
      "geometry.coordinates[0][4] must have a latitude from -90 to 90",
    ],
    [
      faultOf(polygon(SQUARE.slice(0, 4))),
      "geometry.coordinates[0] must end with the position that it begins with",
    ],
    [
      faultOf(
        polygon([
          [0, 0],
          [4, 4],
          [4, 0],
          [0, 4],
          [0, 0],
        ]),
      ),
      "geometry.coordinates[0][2]: the ring crosses or touches itself: this edge and that of corner 0 meet",
    ],
    [
      faultOf(
        polygon([
          [0, 90],
          [10, 90],
          [20, 90],
          [0, 90],
        ]),
      ),
      "geometry.coordinates[0] encloses no area",
    ],
    [
      faultOf(polygon(SQUARE, square(3, 3, 2))),
      "geometry.coordinates[1][3]: this edge crosses another ring, or runs along it",
    ],
    [
      faultOf(polygon(SQUARE, square(5, 5, 1))),
      "geometry.coordinates[1][0]: the hole is not inside of the outer ring",
    ],
    [
      faultOf(polygon(SQUARE, square(1, 1, 2), square(1.5, 1.5, 1))),
      "geometry.coordinates[2][0]: the hole overlaps another hole",
    ],
    [
      faultOf({ type: "MultiPolygon", coordinates: [[square(1, 1, 1)], [SQUARE]] }),
      "geometry.coordinates[0][0][0]: the polygon overlaps another polygon",
    ],
    [
      faultOf({ type: "MultiPolygon", coordinates: [[SQUARE], [square(4, 0, 4)]] }),
      "geometry.coordinates[1][0][3]: this edge crosses another ring, or runs along it",
    ],
    [
      faultOf(
        polygon([
          [-180, -80],
          [180, -80],
          [180, 85],
          [-180, 85],
          [-180, -80],
        ]),
      ),
      "geometry.coordinates covers more than half of the earth",
    ],
    [
      faultOf(polygon(Array.from({ length: 1002 }, (_, i) => [i % 1001, 0]))),
      "geometry.coordinates[0] is too long: a fence has at most 1,000 vertices",
    ],
    [
      faultOf({
        type: "LineString",
        coordinates: [
          [0, 0],
          [1, 1],
        ],
      }),
      "properties.buffer_meters is required for a LineString: 10 to 100,000",
    ],
    [
      faultOf(polygon(SQUARE), { radius_meters: 50 }),
      "properties.radius_meters is of a Point, and this is a Polygon",
    ],
    [faultOf({ type: "Circle" }), "geometry.type must be Polygon, MultiPolygon, Point, LineString"],
    [faultOf(null), "geometry must be an object"],
    [
      faultOf(polygon(SQUARE), { colour: "#ffffff" }),
      "properties.colour is unknown: those of properties are name, description, color, tags, metadata, active, confirm_seconds, confirmations, schedule, devices, users, accuracy_meters_max, exit_buffer_meters, dwell_seconds, silence_minutes, initial, radius_meters, buffer_meters",
    ],
    [
      faultOf(polygon(SQUARE), {}, { extra: 1 }),
      "extra is unknown: a fence has type, geometry and properties",
    ],
    [
      faultOf(polygon(SQUARE), { name: "" }),
      "properties.name must be 1 to 128 characters, none of them control characters",
    ],
    [
      faultOf(polygon(SQUARE), { confirmations: 1.5 }),
      "properties.confirmations must be a whole number, 1 to 100",
    ],
    [faultOf(polygon(SQUARE), { initial: "enter" }), "properties.initial must be none or event"],
    [
      faultOf(polygon(SQUARE), { devices: ["a", ".."] }),
      "properties.devices[1] must be a device's id, of 1 to 128 characters",
    ],
    [
      faultOf(polygon(SQUARE), { users: ["ANONYMOUS"] }),
      "properties.users[0] must be a user's id, of 1 to 128 characters",
    ],
    [
      faultOf(polygon(SQUARE), { schedule: { timezone: "Mars", weekly: [] } }),
      "properties.schedule.timezone must be an IANA name, an offset such as +05:30, or UTC",
    ],
    [
      faultOf(polygon(SQUARE), { schedule: { timezone: "UTC", weekly: [] } }),
      "properties.schedule.weekly must be a list of 1 to 50 items",
    ],
    [
      faultOf(polygon(SQUARE), {
        schedule: { timezone: "UTC", weekly: [{ days: [], from: "08:00", to: "09:00" }] },
      }),
      "properties.schedule.weekly[0].days must be a list of 1 to 7 items",
    ],
    [
      faultOf(polygon(SQUARE), {
        schedule: { timezone: "UTC", weekly: [{ days: ["mon"], from: "24:00", to: "09:00" }] },
      }),
      "properties.schedule.weekly[0].from must be a time, HH:MM",
    ],
  ];
  for (const [fault, expected] of faults) expect(fault).toBe(expected);
});

test("parseFence() takes either winding, holes and points that touch, ±180°, and poles however they are cut", () => {
  const cut = { type: "MultiPolygon", coordinates: [[square(179, 0, 1)], [square(-180, 0, 1)]] };
  const antarctic = [
    [-180, -70],
    [-60, -72],
    [60, -71],
    [180, -70],
    [180, -90],
    [-180, -90],
    [-180, -70],
  ];
  const valid = [
    polygon(SQUARE),
    polygon(SQUARE.toReversed()),
    polygon(SQUARE, square(1, 1, 1), square(2, 2, 1).toReversed()),
    polygon(SQUARE, [
      [0, 2],
      [1, 1],
      [1, 3],
      [0, 2],
    ]),
    polygon([...SQUARE.slice(0, 2), SQUARE[1], ...SQUARE.slice(2)]),
    {
      type: "MultiPolygon",
      coordinates: [[SQUARE, square(1, 1, 2)], [square(1.5, 1.5, 1)], [square(4, 4, 1)]],
    },
    cut,
    polygon([
      [179, 0],
      [-179, 0],
      [-179, 1],
      [179, 1],
      [179, 0],
    ]),
    polygon(antarctic),
    polygon([
      [0, 80],
      [120, 80],
      [-120, 80],
      [0, 80],
    ]),
    polygon([
      [-180, 80],
      [180, 80],
      [180, 90],
      [-180, 90],
      [-180, 80],
    ]),
    polygon([
      [0, 80],
      [60, 80],
      [60, 90],
      [0, 90],
      [0, 80],
    ]),
  ];
  for (const geometry of valid) expect(faultOf(geometry)).toBe("");
});

test("parseFence() takes every star, across ±180° too", () => {
  const stars = fc.record({
    x: fc.integer({ min: -180, max: 180 }),
    y: fc.integer({ min: -60, max: 60 }),
    radii: fc.array(fc.integer({ min: 500, max: 1000 }), { minLength: 5, maxLength: 300 }),
  });
  fc.assert(
    fc.property(stars, ({ x, y, radii }) => {
      const corners = radii.map((radius, corner) => {
        const angle = (2 * Math.PI * corner) / radii.length;
        const longitude = x + (radius / 100) * Math.cos(angle);
        const wrapped = longitude > 180 ? longitude - 360 : longitude < -180 ? longitude + 360 : longitude;
        return [wrapped, y + (radius / 100) * Math.sin(angle)];
      });
      expect(faultOf(polygon([...corners, corners[0]]))).toBe("");
    }),
    { numRuns: 200 },
  );
});

test("parseFence() refuses a round ring in which two neighboring corners are exchanged", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 4, max: 900 }),
      fc.constantFrom(0, 179.9, -180),
      fc.nat(),
      (count, x, at) => {
        const corners = Array.from({ length: count }, (_, corner) => {
          const angle = (2 * Math.PI * corner) / count;
          const longitude = x + Math.cos(angle);
          return [
            longitude > 180 ? longitude - 360 : longitude < -180 ? longitude + 360 : longitude,
            Math.sin(angle),
          ];
        });
        const one = at % (count - 1);
        const exchanged = corners.with(one, corners[one + 1]!).with(one + 1, corners[one]!);
        expect(faultOf(polygon([...corners, corners[0]]))).toBe("");
        expect(faultOf(polygon([...exchanged, exchanged[0]]))).toContain(
          "the ring crosses or touches itself",
        );
      },
    ),
    { numRuns: 200 },
  );
});

test("parseAlert() takes exactly one condition, within its bounds", () => {
  const faultOf = (members: Members) => {
    const parsed = parseAlert(members);
    return parsed.ok ? "" : parsed.error;
  };
  expect(faultOf({ speed_above: 30, confirm_seconds: 10 })).toBe("");
  expect(faultOf({ name: "x" })).toBe("an alert has one of speed_above, battery_below, silent_for");
  expect(faultOf({ speed_above: 30, silent_for: 5 })).toBe(
    "an alert has one of speed_above, battery_below, silent_for",
  );
  expect(faultOf({ battery_below: 101 })).toBe("battery_below must be a number, 0 to 100");
  expect(faultOf({ silent_for: 0 })).toBe("silent_for must be a whole number, 1 to 44,640");
});
