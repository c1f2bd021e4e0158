import { describe, expect, test } from "bun:test";
import { NO_READ_OPTIONS } from "../../../../../src/formats/read/format.ts";
import { geojson, geojsonseq } from "../../../../../src/formats/read/geojson/geojson.ts";
import { overlandFile } from "../../../../../src/formats/read/geojson/overland.ts";
import { pointLines } from "../../../../support/formats/point-lines.ts";
import { contentOf, readWhole, sampleContent } from "../../../../support/formats/read-file.ts";

const NOON = "2026-02-02T12:00:00.000Z";

function feature(properties: object, coordinates: unknown = [13.4, 52.5], type = "Point") {
  return { type: "Feature", geometry: { type, coordinates }, properties };
}

async function readFeatures(...features: unknown[]) {
  return readWhole(geojson, contentOf(JSON.stringify({ type: "FeatureCollection", features })));
}

/** The lines of a Point at noon with these properties. */
async function detailsOf(properties: object, options = {}): Promise<object> {
  const text = JSON.stringify(feature({ time: NOON, ...properties }));
  const { points } = await readWhole(geojson, contentOf(text), options);
  return points[0]!.details;
}

describe("geojson", () => {
  test("reads lines whose times run beside their coordinates", async () => {
    const found = await readWhole(geojson, sampleContent("geojson/linestring-coordtimes.geojson"));
    expect(pointLines(found)).toEqual([
      "2026-02-02T02:40:00.000Z 52.520008 13.404954 - altitude=34.2",
      "2026-02-02T02:41:00.000Z 52.5201 13.4051 - altitude=34",
      "2026-02-02T03:00:00.000Z 52.51 13.4 -",
      "2026-02-02T03:01:00.000Z 52.52 13.41 -",
      "2026-02-02T03:02:00.000Z 52.53 13.42 -",
      "never 52.5 13.4 -",
      "never 52.6 13.5 -",
      "2026-02-02T02:40:00.000Z 52.5 13.4 - altitude=34",
      "2026-02-02T02:41:00.000Z 52.6 13.5 - altitude=34",
    ]);
    expect(found).toMatchObject({ skips: { no_position: 1 }, remarks: {}, error: null });
  });

  test("reads what Dawarich writes, all of it texts", async () => {
    const found = await readWhole(geojson, sampleContent("dawarich/points.geojson"));
    expect(pointLines(found)).toEqual([
      "2026-02-02T02:40:00.000Z 52.520008 13.404954 ne horizontal_accuracy=12 vertical_accuracy=3 altitude=34 speed=13.1 bearing=271 battery_level=81 battery_status=Not Charging",
    ]);
    expect(found).toMatchObject({ skips: {}, error: null });
  });

  test("reads a Feature alone, with its members in any order, and a list of them", async () => {
    const { type, geometry, properties } = feature({ time: NOON });
    const line = `${NOON} 52.5 13.4 -`;
    for (const text of [
      { properties, geometry, type },
      { type, geometry, properties },
      [feature({ time: NOON })],
    ])
      expect(pointLines(await readWhole(geojson, contentOf(JSON.stringify(text))))).toEqual([line]);
  });

  test("takes the first name of a time that a Feature has", async () => {
    const seconds = Date.parse(NOON) / 1000;
    const found = await readFeatures(
      feature({ time: null, time_long: seconds * 1000, created_at: "2020-01-01T00:00:00Z" }),
      feature({ tst: seconds, created_at: "2020-01-01T00:00:00Z" }),
      feature({ when: NOON }),
      feature({ recorded_at: `${seconds}` }),
      feature({}, ["13.4", "52.5", 7, seconds]),
      feature({ date: "2026-02-02" }),
    );
    const at = `${NOON} 52.5 13.4 -`;
    expect(pointLines(found)).toEqual([
      at,
      at,
      at,
      at,
      `${at} altitude=7`,
      "at a time that can't be read 52.5 13.4 -",
    ]);
  });

  test("reads a MultiPoint whose values run beside its points", async () => {
    const properties = {
      device_id: "phone",
      timestamps: [NOON, "2026-02-02T12:01:00Z"],
      speeds: [1.5, null],
      accuracies: [4, 5],
      battery: [80, 0.5],
      time: "2020-01-01T00:00:00Z",
    };
    const points = [
      [13.4, 52.5],
      [13.5, 52.6, 30],
    ];
    expect(pointLines(await readFeatures(feature(properties, points, "MultiPoint")))).toEqual([
      `${NOON} 52.5 13.4 phone horizontal_accuracy=4 speed=1.5 battery_level=80`,
      "2026-02-02T12:01:00.000Z 52.6 13.5 phone horizontal_accuracy=5 altitude=30 battery_level=50",
    ]);
  });

  test("gives times to a line's points as far as there are any", async () => {
    const line = [
      [13.4, 52.5],
      [13.5, 52.6],
    ];
    const found = await readFeatures(feature({ coordTimes: [NOON] }, line, "LineString"));
    expect(pointLines(found)).toEqual([`${NOON} 52.5 13.4 -`, "never 52.6 13.5 -"]);
  });

  test("knows units by names, by OwnTracks' topic, and by the operator", async () => {
    expect(await detailsOf({ speed: 2 })).toEqual({ speed: 2 });
    expect(await detailsOf({ velocity: "13.1", topic: "owntracks/a/b" })).toEqual({ speed: 13.1 });
    expect(await detailsOf({ vel: 36, topic: "owntracks/a/b" })).toEqual({ speed: 10 });
    expect(await detailsOf({ vel: 36 })).toEqual({ speed: 36 });
    expect(await detailsOf({ speed_kph: 36 }, { speedUnit: "kn" })).toEqual({ speed: 10 });
    expect(await detailsOf({ speed: 36 }, { speedUnit: "kmh" })).toEqual({ speed: 10 });
    expect(await detailsOf({ speed: -1, heading: -1, acc: -5 })).toEqual({});
    expect(await detailsOf({ bat: 0.5, cog: "90", acc: "3", alt: 0 })).toEqual({
      battery_level: 50,
      bearing: 90,
      horizontal_accuracy: 3,
      altitude: 0,
    });
    expect(await detailsOf({ battery: 1 })).toEqual({ battery_level: 1 });
  });

  test("takes the words of what this program wrote as they are, and no others'", async () => {
    const words = { type: "MOVING", os: "android", is_mock: false, network_status: true };
    expect(await detailsOf({ timestamp: Date.parse(NOON), ...words })).toEqual({
      ...words,
      type: "MOVING",
    } as object);
    expect(await detailsOf(words)).toEqual({});
  });

  test("skips other geometries, and takes nothing from names that objects have of themselves", async () => {
    const proto = JSON.parse('{"__proto__":{"time":"2026-02-02T12:00:00Z"},"constructor":[1]}');
    const found = await readFeatures(
      feature({ time: NOON }, [[[1, 2]]], "Polygon"),
      feature({ time: NOON }, null),
      feature(proto),
      { type: "Feature" },
      "x",
    );
    expect(pointLines(found)).toEqual([`${NOON} nowhere -`, "never 52.5 13.4 -"]);
    expect(found.skips).toEqual({ no_location: 1, no_position: 1, unreadable: 1 });
  });

  test.each([
    ["a line of very many", "LineString", Array.from({ length: 20_000 }, () => [13.4, 52.5]), 1000],
    [
      "very many lines",
      "MultiLineString",
      Array.from({ length: 5000 }, () => Array(4).fill([13.4, 52.5])),
      800,
    ],
  ])("lets points be taken away within %s", async (_, type, coordinates, pointsMax) => {
    const content = contentOf(JSON.stringify(feature({}, coordinates, type)));
    let sinceYield = 0;
    let mostBetween = 0;
    const add = () => {
      sinceYield++;
    };
    for await (const _ of geojson.read(content, { add, skip: add, note: add }, NO_READ_OPTIONS)) {
      mostBetween = Math.max(mostBetween, sinceYield);
      sinceYield = 0;
    }
    expect(mostBetween).toBe(pointsMax);
  });

  test("reads lines each with its own times, the last of a name where several lists are", async () => {
    const lines = [[[13.4, 52.5]], [], [[13.5, 52.6]]];
    const properties = {
      coordTimes: [["2020-01-01T00:00:00Z"], [], ["2020-01-01T00:00:01Z"]],
      times: NOON,
      coordinateProperties: { times: [[NOON], NOON, ["2026-02-02T12:01:00.000Z"]], speeds: [1, 2, [3]] },
    };
    expect(pointLines(await readFeatures(feature(properties, lines, "MultiLineString")))).toEqual([
      `${NOON} 52.5 13.4 -`,
      "2026-02-02T12:01:00.000Z 52.6 13.5 - speed=3",
    ]);
  });

  test("reads as many lines as there are properties beside them", async () => {
    const properties = Object.fromEntries(Array.from({ length: 200_000 }, (_, i) => [`k${i}`, i]));
    const lines = [...Array.from({ length: 200_000 }, () => []), [[13.4, 52.5]]];
    expect(pointLines(await readFeatures(feature(properties, lines, "MultiLineString")))).toEqual([
      "never 52.5 13.4 -",
    ]);
  });
});

describe("geojsonseq", () => {
  test("reads Features between record separators", async () => {
    const found = await readWhole(geojsonseq, sampleContent("geojson/points.geojsonseq"));
    expect(pointLines(found)).toEqual([
      "2026-02-02T02:40:00.000Z 52.520008 13.404954 - horizontal_accuracy=4.8 altitude=34.2 speed=13 bearing=271.4",
      "2026-02-02T02:41:00.000Z 52.5201 13.4051 - speed=13 battery_level=81",
    ]);
    expect(found).toMatchObject({ places: [1, 2], skips: {}, error: null });
  });

  test("reads a Feature a line, and loses of a broken one no more than itself", async () => {
    const line = JSON.stringify(feature({ time: NOON }));
    const found = await readWhole(
      geojsonseq,
      contentOf(`\ufeff${line}\r\n\n${line.slice(0, 30)}\n[]\n${line}`),
    );
    expect(pointLines(found)).toEqual(Array(2).fill(`${NOON} 52.5 13.4 -`));
    expect(found).toMatchObject({ places: [1, 5], skips: { unreadable: 2 }, error: null });
  });

  test("says so where the file ends within a line", async () => {
    const line = JSON.stringify(feature({ time: NOON }));
    const found = await readWhole(geojsonseq, contentOf(`${line}\n${line.slice(0, 30)}`));
    expect(found.points).toHaveLength(1);
    expect(found.error?.message).toBe("the file ends in the middle of line 2");
  });
});

describe("overlandFile", () => {
  test("reads batches with the device that is named behind them, and batteries as shares", async () => {
    const locations = [
      feature({ timestamp: NOON, battery_level: 1, battery_state: "charging", motion: ["driving"] }),
      feature({ timestamp: NOON, device_id: "other" }),
      feature({ timestamp: NOON, action: "paused_location_updates" }),
    ];
    const text = JSON.stringify({ locations, device_id: "anna" });
    const lines = [
      `${NOON} 52.5 13.4 anna battery_level=100 battery_status=Charging type=MOVING`,
      `${NOON} 52.5 13.4 other`,
    ];
    const found = await readWhole(overlandFile, contentOf(text));
    expect(pointLines(found)).toEqual(lines);
    expect(found.skips).toEqual({ no_location: 1 });
    const cutOff = await readWhole(overlandFile, contentOf(text.slice(0, -10)));
    expect(pointLines(cutOff)).toEqual(lines.map((line) => line.replace("anna", "-")));
    expect(cutOff.error).not.toBeNull();
    const broken = await readWhole(
      overlandFile,
      contentOf(`${JSON.stringify({ locations }).slice(0, -1)} x}`),
    );
    expect(pointLines(broken)).toEqual(pointLines(cutOff));
    expect(broken.error).not.toBeNull();
  });
});
