import { describe, expect, test } from "bun:test";
import type { ClientMessage } from "../../../../src/clients/client.ts";
import { LongList } from "../../../../src/clients/content.ts";
import { traccar } from "../../../../src/clients/traccar/traccar.ts";
import { ARRIVED_MS, collect, contentOf, messageOf } from "../../../support/clients/collected.ts";
import { parametersOf, sample, sampleLines } from "../../../support/clients/sample.ts";

function readQuery(line: string, other: Partial<ClientMessage> = {}) {
  return collect(traccar, messageOf({ kind: "empty" }, { query: parametersOf(line), ...other }));
}

function readBody(body: string, other: Partial<ClientMessage> = {}) {
  return collect(traccar, messageOf(contentOf(body), other));
}

/** Of most samples. */
const BERLIN = { user: null, latitude: 52.520008, longitude: 13.404954 };

describe("Traccar Client 8", () => {
  const [fast, standing] = sampleLines("traccar-client-8/android-queries.txt");

  test("for Android has knots, and an accuracy of 0 where it tells none", () => {
    expect(readQuery(fast!).points).toEqual([
      {
        ...BERLIN,
        device: "123456",
        timestampMs: 1_770_000_000_000,
        details: { altitude: 34, speed: 13, bearing: 271, battery_level: 81 },
      },
    ]);
  });

  test("for Android stands still where it knows how well", () => {
    expect(readQuery(standing!).points).toEqual([
      {
        user: null,
        device: "123456",
        timestampMs: 1_770_000_060_000,
        latitude: 52.5201,
        longitude: 13.405,
        details: {
          horizontal_accuracy: 25,
          altitude: 34,
          speed: 0,
          bearing: 0,
          battery_status: "Charging",
          is_mock: true,
        },
      },
    ]);
  });

  test("for Android knows neither speed nor bearing where all three are 0", () => {
    const { points } = readQuery(sampleLines("traccar-client-android/queries.txt")[0]!);
    expect(points[0]).toEqual({
      device: "123456789012345",
      user: null,
      timestampMs: 619_315_200_000,
      latitude: 0,
      longitude: 0,
      details: { altitude: 0, battery_level: 0 },
    });
  });

  test("for iOS tells no speed", () => {
    expect(readQuery(sample("traccar-client-8/ios-queries.txt").trim()).points).toEqual([
      {
        ...BERLIN,
        device: "123456",
        timestampMs: 1_770_000_000_000,
        details: { horizontal_accuracy: 5, altitude: 34, battery_level: 81 },
      },
    ]);
  });

  test("is asked by its path alone where a form's parameters and a URL's differ: the form's come first", () => {
    const { points } = readBody("lat=1&lon=2", { query: new URLSearchParams({ id: "van", lat: "50" }) });
    expect(points[0]).toMatchObject({ device: "van", latitude: 1, longitude: 2 });
  });
});

describe("Traccar Client 10", () => {
  const position = {
    ...BERLIN,
    device: "48241179",
    timestampMs: 1_770_000_000_000,
    details: {
      horizontal_accuracy: 12.5,
      altitude: 34,
      speed: 13,
      bearing: 271,
      battery_level: 81,
      battery_status: "Charging",
    },
  };

  test("sends forms in knots, and says that it lives where it has no fix", () => {
    const [moving, heartbeat, sos] = sampleLines("traccar-client-10/form-bodies.txt").map((body) =>
      readBody(body),
    );
    expect(moving!.points).toEqual([position]);
    expect(heartbeat).toMatchObject({ points: [], refused: [], skipped: ["heartbeat"] });
    expect(sos!.points).toEqual([
      {
        ...BERLIN,
        device: "48241179",
        timestampMs: 1_770_000_700_000,
        details: { horizontal_accuracy: 5, battery_level: 80 },
      },
    ]);
  });

  test("sends lists of the same in a variant, short or long", () => {
    const body = sample("traccar-client-10/json-array-variant.json");
    const list = JSON.parse(body);
    const long = new LongList(list.length, (index) => list[index]);
    for (const { points, skipped, raws } of [
      readBody(body),
      collect(traccar, messageOf({ kind: "json", value: long })),
    ]) {
      expect(points).toEqual([position]);
      expect(skipped).toEqual(["heartbeat"]);
      expect(readBody(JSON.stringify(raws[0])).points).toEqual([position]);
    }
  });
});

describe("Traccar Client 9", () => {
  test("sends JSON in m/s", () => {
    expect(readBody(sample("traccar-client-9/body.json")).points).toEqual([
      {
        ...BERLIN,
        device: "48241179",
        timestampMs: 1_770_000_000_120,
        details: {
          horizontal_accuracy: 5,
          altitude: 34.2,
          speed: 13,
          bearing: 271.4,
          battery_level: 81,
          battery_status: "Not Charging",
          type: "MOVING",
        },
      },
    ]);
  });

  test("marks with -1 what it doesn't know", () => {
    const bodies = sampleLines("traccar/osmand_json_bodies.jsonl").map((body) => readBody(body).points[0]);
    expect(bodies).toEqual([
      {
        device: "48241179",
        user: null,
        timestampMs: Date.UTC(2025, 5, 15, 13, 45, 12, 862),
        latitude: 37.4219983,
        longitude: -122.084,
        details: {
          horizontal_accuracy: 5,
          altitude: 5,
          speed: 0,
          battery_level: 100,
          battery_status: "Not Charging",
          type: "STATIONARY",
        },
      },
      expect.objectContaining({ latitude: 37.4219983 }),
      {
        device: "658765",
        user: null,
        timestampMs: Date.UTC(2025, 4, 9, 4, 11, 30, 579),
        latitude: 37.785834,
        longitude: -122.406417,
        details: {
          horizontal_accuracy: 5,
          altitude: 0,
          battery_status: "Not Charging",
          type: "STATIONARY",
          is_mock: true,
        },
      },
      {
        device: "8737767034",
        user: null,
        timestampMs: Date.UTC(2021, 6, 21, 8, 6, 34, 444),
        latitude: -6.1148096,
        longitude: 106.6837015,
        details: {
          horizontal_accuracy: 3.8,
          vertical_accuracy: 3.8,
          altitude: 35.7,
          speed: 18.67,
          bearing: 63,
          battery_level: 79,
          battery_status: "Not Charging",
          type: "STATIONARY",
        },
      },
    ]);
  });

  test("without a position says that it lives", () => {
    const { points, skipped } = readBody('{"location":{"coords":{}},"device_id":"7"}');
    expect([points, skipped]).toEqual([[], ["heartbeat"]]);
  });

  test("is flatter as Dawarich's app writes it", () => {
    expect(readBody(sample("traccar-client-9/flat-dawarich-app.json")).points).toEqual([
      {
        ...BERLIN,
        device: "iphone-15",
        timestampMs: 1_770_000_000_000,
        details: {
          horizontal_accuracy: 5,
          altitude: 34,
          speed: 1.2,
          bearing: 88,
          battery_level: 81,
          battery_status: "Charging",
          type: "MOVING",
        },
      },
    ]);
  });
});

test("what Traccar's own server takes is taken, as it reads it", () => {
  const read = sampleLines("traccar/osmand_queries.txt").map((line) => readQuery(line));
  const shared = { user: null, details: {} };
  const kansas = { ...shared, device: "902064", latitude: 42.06288, longitude: -88.23412 };
  const mountain = {
    ...shared,
    device: "123456",
    timestampMs: 1_377_177_267_000,
    latitude: 60,
    longitude: 30,
  };
  const standing = { altitude: 224, speed: 0 };
  expect(read.map(({ points, skipped }) => points[0] ?? skipped[0])).toEqual([
    "heartbeat",
    { ...mountain, device: null },
    { ...kansas, timestampMs: Date.UTC(2016, 0, 27, 18, 55, 47), details: standing },
    { ...kansas, timestampMs: 1_442_068_686_579, details: standing },
    {
      ...shared,
      device: "353861053849681",
      timestampMs: Date.UTC(2014, 5, 4, 9, 10, 11),
      latitude: 49.60688,
      longitude: 6.15788,
      details: { altitude: 384.7, speed: 0 },
    },
    { ...mountain, details: { altitude: 0, speed: 0, bearing: 0 } },
    mountain,
    { ...mountain, timestampMs: ARRIVED_MS, isTimedByArrival: true, details: { altitude: 0 } },
    {
      ...shared,
      device: "861001000719969",
      timestampMs: ARRIVED_MS,
      isTimedByArrival: true,
      latitude: 41.666667,
      longitude: -0.883333,
      details: { altitude: 350.059479, speed: 0, battery_level: 87 },
    },
    mountain,
    {
      ...shared,
      device: "123456789012345",
      timestampMs: 1_504_763_810_000,
      latitude: 40.7232948571,
      longitude: -74.0061408571,
      details: { speed: 20.578, bearing: 7.19889788244 },
    },
  ]);
});

test.each([
  ["valid=false", "id=7&lat=1&lon=2&valid=false", "no fix"],
  ["valid=0", "id=7&lat=1&lon=2&valid=0", "no fix"],
  ["Wi-Fi alone", "id=7&timestamp=1377177267&wifi=00-14-22-01-23-45,-80", "heartbeat"],
])("a query of %s holds no position", (_title, query, what) => {
  expect(readQuery(query)).toMatchObject({ points: [], refused: [], skipped: [what] });
});

test("a query of nothing we know is refused as a whole, and a body that is no object", () => {
  expect(readQuery("foo=bar").refused).toEqual([{ reason: "unknown_shape", raw: undefined }]);
  // Not a heartbeat: there is a position in it.
  expect(readQuery("id=7&timestamp=1377177267&latitude=1&longitude=2").refused).toHaveLength(1);
  expect(readBody('{"location":{"lat":1,"lon":2},"device_id":"7"}').refused).toHaveLength(1);
  expect(readBody("[1,2]").refused).toEqual([
    { reason: "unknown_shape", raw: [1] },
    { reason: "unknown_shape", raw: [2] },
  ]);
  expect(collect(traccar, messageOf({ kind: "unreadable" })).refused[0]?.reason).toBe("bad_json");
});

describe("a time", () => {
  const body = (members: object) => JSON.stringify({ id: "7", lat: 1, lon: 2, ...members });
  const nested = (members: object) =>
    JSON.stringify({ location: { coords: { latitude: 1, longitude: 2 } }, ...members });

  test.each(["timestamp", "tst", "time", "datetime", "ts", "fixTime"])(
    "is read by the name of %s",
    (name) => {
      const point = { timestampMs: 1_770_000_000_000 };
      for (const value of ["1770000000", "2026-02-02T02:40:00Z"]) {
        expect(readQuery(`id=7&lat=1&lon=2&${name}=${value}`).points[0]).toMatchObject(point);
        expect(readBody(body({ [name]: value })).points[0]).toMatchObject(point);
        expect(readBody(nested({ [name]: value })).points[0]).toMatchObject(point);
      }
      expect(readQuery(`id=7&lat=1&lon=2&timestamp=&${name}=1770000000`).points[0]).toMatchObject(
        name === "timestamp" ? {} : point,
      );
    },
  );

  test.each([
    "timestamp=soon",
    "timestamp=",
    "tst=",
    "time=12:40",
    "gps_date=1",
    "recorded_at=yesterday",
    "device_clock=x",
    "when=now",
    // By its value alone.
    "fix=1770000000",
    "fix=1770000000123",
    "fix=2026-02-02+02:40:00",
  ])("that is there and can't be read is none: %s", (parameter) => {
    const [name = "", value = ""] = parameter.split("=");
    for (const { points } of [
      readQuery(`id=7&lat=1&lon=2&${parameter}`),
      readBody(`id=7&lat=1&lon=2&${parameter}`),
      readBody(body({ [name]: value.replace("+", " ") })),
      readBody(nested({ [name]: value.replace("+", " ") })),
    ]) {
      expect(points[0]?.timestampMs).toBeNaN();
      expect(points[0]?.isTimedByArrival).toBeUndefined();
    }
  });

  test("is that of the arrival where nothing could be one, and the point says so", () => {
    for (const { points } of [
      readQuery("id=1770000000&lat=1&lon=2&speed=3&rpm=933&timezone=UTC"),
      readBody(body({ timestamp: null, uuid: "2026-02-02T02:40:00Z" })),
      readBody(nested({ device_id: "1770000000", odometer: 1_770_000_000 })),
    ]) {
      expect(points[0]).toMatchObject({ timestampMs: ARRIVED_MS, isTimedByArrival: true });
    }
  });
});

test("accuracy and altitude are read by other apps' names, and a speed whose unit nobody knows is none", () => {
  const query = "lat=52.52&lon=13.405&acc=3&alt=35&vel=36&batt=100&bs=1&tst=1770000000";
  const details = {
    horizontal_accuracy: 3,
    altitude: 35,
    battery_level: 100,
    battery_status: "Not Charging",
  };
  expect(readQuery(query).points[0]).toMatchObject({
    timestampMs: 1_770_000_000_000,
    details: { ...details, speed: Number.NaN },
  });
  expect(readQuery(query, { speedUnit: "kmh" }).points[0]?.details.speed).toBe(10);
});

test("a position of which nobody knows whether it is a fix is refused", () => {
  expect(readQuery("id=7&lat=1&lon=2&timestamp=1770000000&valid=perhaps").refused).toMatchObject([
    { reason: "bad_coordinates" },
  ]);
});

test("a driver is told beside the device, which is not named after them", () => {
  expect(readQuery("id=van&lat=1&lon=2&driverUniqueId=dora").points[0]).toMatchObject({
    device: "van",
    user: null,
    driver: "dora",
  });
});

test("speeds are what the operator says, in every shape", () => {
  const speedUnit = "kmh" as const;
  expect(readQuery("id=7&lat=1&lon=2&speed=36", { speedUnit }).points[0]?.details.speed).toBe(10);
  const body = '{"location":{"coords":{"latitude":1,"longitude":2,"speed":36}}}';
  expect(readBody(body, { speedUnit }).points[0]?.details.speed).toBe(10);
});

test("the answer is empty, since a body might be a command", () => {
  expect(traccar.success).toEqual({ contentType: null, body: "" });
});
