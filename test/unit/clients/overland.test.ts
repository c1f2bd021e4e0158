import { describe, expect, test } from "bun:test";
import type { ClientMessage } from "../../../src/clients/client.ts";
import { LongList } from "../../../src/clients/content.ts";
import { overland } from "../../../src/clients/overland.ts";
import { collect, contentOf, messageOf } from "../../support/clients/collected.ts";
import { sample } from "../../support/clients/sample.ts";

function read(body: string, other: Partial<ClientMessage> = {}) {
  return collect(overland, messageOf(contentOf(body), other));
}

/** A batch of one feature, with what a test wants to be otherwise. */
function readOne(properties: object, other: Partial<ClientMessage> = {}) {
  const geometry = { type: "Point", coordinates: [13.4, 52.5] };
  const feature = {
    type: "Feature",
    geometry,
    properties: { timestamp: "2026-02-02T02:40:00Z", ...properties },
  };
  return read(JSON.stringify({ locations: [feature] }), other).points[0];
}

const BATCH_POINTS = [
  {
    device: "bea-phone",
    user: null,
    timestampMs: 1_770_000_000_000,
    latitude: 52.520008,
    longitude: 13.404954,
    details: {
      horizontal_accuracy: 5,
      vertical_accuracy: 3,
      altitude: 34,
      speed: 13,
      bearing: 271,
      battery_level: 94,
      battery_status: "Not Charging",
      type: "MOVING",
    },
  },
  {
    device: "bea-phone",
    user: null,
    timestampMs: 1_770_000_060_000,
    latitude: 52.520101,
    longitude: 13.40511,
    details: { horizontal_accuracy: 65, type: "STATIONARY" },
  },
  {
    device: "bea-phone",
    user: null,
    timestampMs: 1_770_022_800_000,
    latitude: 52.53,
    longitude: 13.41,
    details: {
      horizontal_accuracy: 10,
      vertical_accuracy: 4,
      altitude: 40,
      speed: 0,
      battery_level: 80,
      battery_status: "Not Charging",
    },
  },
];

describe("a batch of Overland", () => {
  test("holds positions, the current one too, and events that are none", () => {
    const { points, refused, skipped } = read(sample("overland-requests/batch.json"));
    expect(points).toEqual(BATCH_POINTS);
    expect(refused).toEqual([]);
    expect(skipped).toEqual(["event", "event", "trip"]);
  });

  test("is read the same where it is so long that its list is parsed by elements", () => {
    const { locations, ...rest } = JSON.parse(sample("overland-requests/batch.json"));
    const list = new LongList(locations.length, (index) => locations[index]);
    const value = { locations: list, ...rest };
    expect(collect(overland, messageOf({ kind: "json", value })).points).toEqual(BATCH_POINTS);
  });

  test("of the app's own documentation is read, with a time in its zone and no device", () => {
    const text = sample("overland-ios/README_request_example.txt");
    const body = text.slice(text.indexOf("{"), text.indexOf('"current"')).trimEnd().replace(/,$/, "}");
    expect(read(body).points).toEqual([
      {
        device: null,
        user: null,
        timestampMs: Date.UTC(2015, 9, 1, 15),
        latitude: 37.3318,
        longitude: -122.030581,
        details: {
          horizontal_accuracy: 30,
          speed: 4,
          battery_level: 80,
          battery_status: "Charging",
          type: "MOVING",
        },
      },
    ]);
  });

  test("of Colota names the device beside the list", () => {
    const body = sample("colota/overland-batch.json");
    expect(read(body).points).toEqual([
      {
        device: "colota",
        user: null,
        timestampMs: 1_770_000_000_000,
        latitude: 52.520008,
        longitude: 13.404954,
        details: {
          horizontal_accuracy: 12,
          altitude: 34,
          speed: 13.1,
          bearing: 271.4,
          battery_level: 81,
          battery_status: "Not Charging",
        },
      },
    ]);
    expect(read(body.replace('"device_id":"colota"', '"device_id":"moto"')).points[0]?.device).toBe("moto");
  });

  test("keeps of a point a batch of it alone, which reads the same", () => {
    for (const path of ["overland-requests/batch.json", "colota/overland-batch.json"]) {
      const { points, raws } = read(sample(path));
      expect(raws.flatMap((raw) => read(JSON.stringify(raw)).points)).toEqual(points);
    }
  });

  test("names a device by what its user typed before what Apple calls it", () => {
    expect(readOne({ device_id: "pixel", unique_id: "8B1D" })?.device).toBe("pixel");
    expect(readOne({ device_id: "", unique_id: "8B1D" })?.device).toBe("8B1D");
    expect(readOne({ device_id: 7 })?.device).toBe("7");
  });

  test("has speeds in m/s, or in what the operator says", () => {
    expect(readOne({ speed: 36 })?.details).toEqual({ speed: 36 });
    expect(readOne({ speed: 36 }, { speedUnit: "kmh" })?.details).toEqual({ speed: 10 });
  });

  test("says with a negative vertical accuracy that its altitude is none, and without any that it is one", () => {
    expect(readOne({ altitude: 34, vertical_accuracy: -1 })?.details).toEqual({});
    expect(readOne({ altitude: 34 })?.details).toEqual({ altitude: 34 });
  });

  test("comes from iOS by its User-Agent", () => {
    const headers = { "user-agent": "Overland/1.4 CFNetwork/1490.0.4 Darwin/23.2.0" };
    expect(readOne({}, { headers })?.details).toEqual({ os: "ios" });
  });

  test("refuses what should have been a position, alone", () => {
    const features = [
      { properties: { timestamp: "2026-02-02T02:40:00Z" } },
      { geometry: { coordinates: "13.4,52.5" }, properties: {} },
      { geometry: { coordinates: [13.4, 52.5] } },
      "a text",
    ];
    const { points, refused } = read(JSON.stringify({ locations: features }));
    expect(points).toEqual([]);
    expect(refused).toEqual([
      { reason: "no_position", raw: { locations: [features[0]] } },
      { reason: "no_position", raw: { locations: [features[1]] } },
      { reason: "unknown_shape", raw: { locations: [features[2]] } },
      { reason: "unknown_shape", raw: { locations: [features[3]] } },
    ]);
  });

  test("hands on coordinates that can't be read, for the reason to be named", () => {
    const [point] = read('{"locations":[{"geometry":{"coordinates":["east"]},"properties":{}}]}').points;
    expect(point).toMatchObject({ latitude: null, longitude: Number.NaN, timestampMs: null });
  });
});

describe("Overland in its OwnTracks mode", () => {
  const body = sample("overland-requests/owntracks-mode.json");
  const position = {
    device: "bea-phone",
    user: null,
    timestampMs: 1_770_000_000_000,
    latitude: 52.520008,
    longitude: 13.404954,
    details: { horizontal_accuracy: 5, battery_level: 94 },
  };

  test("counts its time from 2001", () => {
    expect(read(body).points).toEqual([position]);
  });

  test("may count from 1970 one day", () => {
    expect(read(body.replace("791692800", "1770000000")).points).toEqual([position]);
  });

  test("may name a user too, on its own path", () => {
    const [point] = read(body.replace("owntracks/bea-phone", "owntracks/bea/phone7")).points;
    expect(point).toMatchObject({ user: "bea", device: "phone7" });
  });

  test("says with a battery of -100 that it doesn't know, and without a position nothing", () => {
    const [point] = read(body.replace('"batt":94', '"batt":-100')).points;
    expect(point?.details).toEqual({ horizontal_accuracy: 5 });
    const { refused } = read('{"_type":"location","topic":"owntracks/bea-phone"}');
    expect(refused).toEqual([{ reason: "no_position", raw: undefined }]);
  });
});

describe("what else comes on Overland's path", () => {
  test.each([
    ["an object of no shape we know", '{"points":[]}'],
    ["a form", "lat=52.5&lon=13.4"],
    ["a list", "[1,2]"],
  ])("%s is refused as a whole", (_title, body) => {
    expect(read(body).refused).toEqual([{ reason: "unknown_shape", raw: undefined }]);
  });

  test("nothing is nothing, and what can't be read is refused", () => {
    const nothing = read("");
    expect(nothing.points.length + nothing.refused.length).toBe(0);
    expect(collect(overland, messageOf({ kind: "unreadable" })).refused[0]?.reason).toBe("bad_json");
  });

  test("the answer is one by which the app deletes, and its failures are shown", () => {
    expect(overland.success).toEqual({ contentType: "application/json", body: '{"result":"ok"}' });
    expect(overland.failure('no "such" key')).toEqual({
      contentType: "application/json",
      body: '{"error":"no \\"such\\" key"}',
    });
  });
});
