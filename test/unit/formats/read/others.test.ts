import { describe, expect, test } from "bun:test";
import { dawarichData, dawarichLines } from "../../../../src/formats/read/dawarich.ts";
import { ownTracksMessages } from "../../../../src/formats/read/owntracks.ts";
import { polarsteps } from "../../../../src/formats/read/polarsteps.ts";
import { traccarPositions } from "../../../../src/formats/read/traccar-positions.ts";
import { pointLines } from "../../../support/formats/point-lines.ts";
import { contentOf, readWhole, sampleContent } from "../../../support/formats/read-file.ts";

const NOON_SECONDS = Date.parse("2026-02-02T12:00:00Z") / 1000;

describe("traccarPositions", () => {
  test("reads speeds in knots, and skips what is no fix", async () => {
    const found = await readWhole(traccarPositions, sampleContent("traccar/api-positions.json"));
    expect(pointLines(found)).toEqual([
      "2026-02-02T02:40:00.000Z 52.520008 13.404954 3 horizontal_accuracy=5 altitude=34 speed=13 bearing=271 battery_level=81 type=MOVING",
    ]);
    const position = {
      fixTime: "2026-02-02T12:00:00.000+00:00",
      latitude: 52.5,
      longitude: 13.4,
      accuracy: 0,
    };
    const text = JSON.stringify([{ ...position, valid: false }, { ...position, valid: true }, 3]);
    const others = await readWhole(traccarPositions, contentOf(text));
    expect(pointLines(others)).toEqual(["2026-02-02T12:00:00.000Z 52.5 13.4 -"]);
    expect(others.skips).toEqual({ no_fix: 1, unreadable: 1 });
  });
});

describe("ownTracksMessages", () => {
  test("reads what ocat prints, in km/h", async () => {
    const found = await readWhole(ownTracksMessages, sampleContent("owntracks/ocat.json"));
    expect(pointLines(found)).toEqual([
      "2026-02-02T02:40:00.000Z 52.520008 13.404954 ne horizontal_accuracy=12 speed=13.056",
      "2026-02-02T02:39:00.000Z 52.52 13.404 ne",
    ]);
    expect(found).toMatchObject({ skips: {}, error: null });
  });

  test("reads bare lists, and names devices with their users", async () => {
    const location = { _type: "location", tst: NOON_SECONDS, lat: 52.5, lon: 13.4, tid: "aa" };
    const messages = [
      { ...location, topic: "owntracks/anna/pixel7" },
      { ...location, username: "bea", device: "iphone" },
      { ...location, lat: undefined, lon: undefined },
      { _type: "encrypted", data: "eA==" },
      { _type: "transition" },
      "x",
    ];
    const found = await readWhole(ownTracksMessages, contentOf(JSON.stringify(messages)));
    expect(pointLines(found)).toEqual([
      "2026-02-02T12:00:00.000Z 52.5 13.4 anna:pixel7 of anna",
      "2026-02-02T12:00:00.000Z 52.5 13.4 bea:iphone of bea",
    ]);
    expect(found.skips).toEqual({ no_position: 1, encrypted: 1, no_location: 1, unreadable: 1 });
  });
});

describe("dawarichLines", () => {
  const LINE =
    "horizontal_accuracy=12 vertical_accuracy=3 altitude=34 speed=13.1 bearing=271 battery_level=81 battery_status=Not Charging";

  test("reads a month of an archive, positions from columns or PostGIS' text", async () => {
    const path = "dawarich/export-v2/points/2026/2026-02.jsonl";
    const found = await readWhole(dawarichLines, sampleContent(path));
    expect(pointLines(found)).toEqual([
      `2026-02-02T02:40:00.000Z 52.520008 13.404954 ne ${LINE}`,
      "2026-02-02T02:41:00.000Z 52.520008 13.404954 google-maps-timeline-export horizontal_accuracy=12 vertical_accuracy=3 altitude=34 speed=0 battery_level=81 battery_status=Not Charging",
    ]);
    expect(found).toMatchObject({ places: [1, 2], skips: {}, error: null });
  });

  test.each([
    ["a place", "POINT(13.4 52.5)", "52.5 13.4"],
    ["a place with its height and system", "SRID=4326;POINT Z (13.4 52.5 30)", "52.5 13.4"],
    ["a line", "LINESTRING (1 2, 3 4)", "NaN NaN"],
    ["the longest place", `POINT(13.4 52.5${" ".repeat(112)})`, "52.5 13.4"],
    ["one too long", `POINT(13.4 52.5${" ".repeat(113)})`, "NaN NaN"],
    ["a million blanks", `POINT${" ".repeat(1_000_000)}`, "NaN NaN"],
  ])("reads PostGIS' text of %s", async (_, lonlat, place) => {
    const points = [{ tracker_id: "ne", timestamp: NOON_SECONDS, lonlat }];
    const found = await readWhole(dawarichData, contentOf(JSON.stringify({ user: {}, points, trips: [] })));
    expect(pointLines(found)).toEqual([`2026-02-02T12:00:00.000Z ${place} ne`]);
  });
});

describe("polarsteps", () => {
  test("reads seconds with fractions, as numbers or texts", async () => {
    const found = await readWhole(polarsteps, sampleContent("polarsteps/locations.json"));
    expect(pointLines(found)).toEqual([
      "2026-02-02T02:40:00.123Z 52.520008 13.404954 -",
      "2026-02-02T02:41:00.000Z 52.5201 13.4051 -",
    ]);
    const text = '{"locations":[{"lat":"52.5","lon":"13.4","time":"1770033600.5"}]}';
    expect(pointLines(await readWhole(polarsteps, contentOf(text)))).toEqual([
      "2026-02-02T12:00:00.500Z 52.5 13.4 -",
    ]);
  });
});
