import { describe, expect, test } from "bun:test";
import type { ClientMessage } from "../../../src/clients/client.ts";
import { osmand } from "../../../src/clients/osmand.ts";
import { collect, contentOf, messageOf } from "../../support/clients/collected.ts";
import { parametersOf, sample, sampleLines } from "../../support/clients/sample.ts";

function readQuery(line: string, other: Partial<ClientMessage> = {}) {
  return collect(osmand, messageOf({ kind: "empty" }, { query: parametersOf(line), ...other }));
}

describe("OsmAnd", () => {
  const [moving, standing, lost] = sampleLines("osmand-app/queries.txt").map((line) => readQuery(line));

  test("has m/s, and calls its accuracy hdop", () => {
    expect(moving!.points).toEqual([
      {
        device: null,
        user: null,
        timestampMs: 1_770_000_000_123,
        latitude: 52.520008,
        longitude: 13.404954,
        details: { horizontal_accuracy: 4.8, altitude: 34.2, speed: 13.02, bearing: 271.4 },
      },
    ]);
  });

  test("writes 0 for what it doesn't know, and exponents near Greenwich", () => {
    expect(standing!.points).toEqual([
      {
        device: null,
        user: null,
        timestampMs: 1_770_000_001_123,
        latitude: 51.4779,
        longitude: 0.0001,
        details: { horizontal_accuracy: 12, speed: 0 },
      },
    ]);
  });

  test("writes NaN without a fix, which is handed on to be refused", () => {
    expect(lost!.points).toMatchObject([
      { latitude: Number.NaN, longitude: Number.NaN, timestampMs: 1_770_000_002_123 },
    ]);
  });

  test("is held up where it is refused, and told nothing where it is not", () => {
    expect(osmand).toMatchObject({ retriesAtOnce: true, success: { contentType: null, body: "" } });
  });
});

describe("Colota in its Traccar mode", () => {
  const position = { device: "colota", user: null, latitude: 52.520008, longitude: 13.404954 };
  const details = { horizontal_accuracy: 12, altitude: 34, speed: 13.1, bearing: 271.4, battery_level: 81 };

  test("has m/s in a query", () => {
    expect(readQuery(sample("colota/traccar-get-query.txt").trim()).points).toEqual([
      { ...position, timestampMs: 1_770_000_000_000, details: { ...details, battery_status: "Charging" } },
    ]);
  });

  test("has m/s in JSON", () => {
    const { points } = collect(osmand, messageOf(contentOf(sample("colota/traccar-json.json"))));
    expect(points).toEqual([
      {
        ...position,
        timestampMs: 1_770_000_000_000,
        details: { ...details, battery_status: "Not Charging" },
      },
    ]);
  });
});

test("north is a bearing of whoever moves", () => {
  expect(readQuery("lat=1&lon=2&speed=3&bearing=0").points[0]?.details).toEqual({ speed: 3, bearing: 0 });
});

test("the battery has the name that OsmAnd's own server gives it, too; old versions leave a placeholder as it is", () => {
  expect(readQuery("lat=1&lon=2&batproc=81").points[0]?.details).toEqual({ battery_level: 81 });
  expect(readQuery("lat=1&lon=2&batt={11}").points[0]?.details).toEqual({ battery_level: Number.NaN });
});

test("the operator's unit goes before ours", () => {
  const { points } = readQuery("lat=1&lon=2&speed=36", { speedUnit: "kmh" });
  expect(points[0]?.details.speed).toBe(10);
});

test("what has no position is refused as a whole", () => {
  expect(readQuery("id=7&speed=3").refused).toEqual([{ reason: "no_position", raw: undefined }]);
});
