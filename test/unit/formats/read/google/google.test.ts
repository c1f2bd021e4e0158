import { describe, expect, test } from "bun:test";
import { readBeginning } from "../../../../../src/formats/read/beginning.ts";
import { googleRecords, readGoogleDevices } from "../../../../../src/formats/read/google/records.ts";
import { googleSemantic } from "../../../../../src/formats/read/google/semantic.ts";
import { googleTimeline, googleTimelineIos } from "../../../../../src/formats/read/google/timeline.ts";
import { googleTimelineEdits } from "../../../../../src/formats/read/google/timeline-edits.ts";
import { pointLines } from "../../../../support/formats/point-lines.ts";
import { contentOf, readWhole, sampleContent } from "../../../../support/formats/read-file.ts";

const TAG = "google-1234567890";

function file(value: unknown) {
  return contentOf(JSON.stringify(value));
}

describe("googleRecords", () => {
  test("reads positions of several phones, and counts on what overflowed", async () => {
    const found = await readWhole(googleRecords, sampleContent("google/Records.json"));
    expect(pointLines(found)).toEqual([
      `2022-01-12T17:18:24.190Z 52.520008 13.404954 ${TAG} horizontal_accuracy=12 vertical_accuracy=3 altitude=34 speed=13 bearing=271`,
      "2022-01-12T17:20:00.000Z 52.5201 13.4051 google--99887766 horizontal_accuracy=1500",
      `2022-01-12T17:20:00.000Z 52.5201 13.4051 ${TAG} horizontal_accuracy=65`,
      `2022-01-12T17:21:00.000Z nowhere ${TAG} horizontal_accuracy=30`,
      `2022-01-12T17:22:00.000Z -33.793 15.1032704 ${TAG} horizontal_accuracy=20`,
    ]);
    expect(found).toMatchObject({ skips: {}, remarks: {}, error: null, places: [23, 837, 1033, 1228, 1360] });
  });

  test("reads the times of old files, which name no device", async () => {
    const found = await readWhole(googleRecords, sampleContent("google/Records-before-2022.json"));
    expect(pointLines(found)).toEqual([
      "2013-12-31T23:00:00.123Z 52.520008 13.404954 google horizontal_accuracy=25 altitude=34 speed=0",
      "2013-12-31T23:01:00.456Z 52.5201 13.4051 google horizontal_accuracy=30",
    ]);
  });

  test("calls phones what their settings call them, and speeds what the operator says they are", async () => {
    const settings = '{"deviceSettings":[{"deviceTag":1234567890,"devicePrettyName":"Google Pixel 7"}]}';
    const beside = { googleDevices: readGoogleDevices(settings), hasGoogleRecords: true };
    const content = sampleContent("google/Records.json");
    const found = await readWhole(googleRecords, content, { beside, speedUnit: "kmh" });
    expect(found.points.map(({ device }) => device)).toEqual([
      "Google Pixel 7",
      "google--99887766",
      ...Array(3).fill("Google Pixel 7"),
    ]);
    expect(found.points[0]!.details.speed).toBe(3.611);
  });

  test("counts what is no object, and a position whose numbers are texts is one", async () => {
    const locations = [
      7,
      null,
      {
        latitudeE7: "525200080",
        longitudeE7: "1e8",
        timestampMs: 1388530800123,
        accuracy: "NaN",
        heading: -1,
      },
      { latitudeE7: 4_200_000_000, longitudeE7: 0, timestamp: "2022-01-12", velocity: null },
    ];
    const found = await readWhole(googleRecords, file({ locations }));
    expect(pointLines(found)).toEqual([
      "2013-12-31T23:00:00.123Z 52.520008 10 google horizontal_accuracy=NaN",
      "at a time that can't be read -9.4967296 0 google",
    ]);
    expect(found.skips).toEqual({ unreadable: 2 });
  });
});

describe("readGoogleDevices()", () => {
  test("keeps phones of one name apart, and finds none in anything else", () => {
    const device = (deviceTag: unknown, devicePrettyName: unknown) => ({ deviceTag, devicePrettyName });
    const deviceSettings = [device(1, "Pixel"), device(-2, "Pixel"), device(3, "Nexus"), device(4, ""), 5];
    expect([...readGoogleDevices(JSON.stringify({ deviceSettings }))]).toEqual([
      ["1", "Pixel 1"],
      ["-2", "Pixel -2"],
      ["3", "Nexus"],
    ]);
    for (const text of ["", "{", "[]", '{"deviceSettings":3}']) expect(readGoogleDevices(text).size).toBe(0);
  });
});

describe("googleSemantic", () => {
  const POINTS = [
    "2021-03-28T00:50:00.000Z 52.520008 13.404954 google-semantic",
    "2021-03-28T01:05:00.000Z 52.5185 13.395 google-semantic horizontal_accuracy=11",
    "2021-03-28T01:20:00.000Z 52.5163 13.3777 google-semantic",
    "2021-03-28T01:20:00.000Z 52.5163 13.3777 google-semantic",
    "2021-03-28T03:20:00.000Z 52.5163 13.3777 google-semantic",
  ];

  test("reads segments with their paths, and visits", async () => {
    const found = await readWhole(googleSemantic, sampleContent("google/2021_MARCH.json"));
    expect(pointLines(found)).toEqual(POINTS);
    expect(found).toMatchObject({ skips: { no_time: 2 }, error: null });
  });

  test("leaves out what Google made of positions that are imported too, unless it is wanted", async () => {
    const beside = { googleDevices: new Map(), hasGoogleRecords: true };
    const read = (semantic: boolean) =>
      readWhole(googleSemantic, sampleContent("google/2021_MARCH.json"), { beside, semantic });
    expect(await read(false)).toMatchObject({ points: [], skips: { derived: 5, no_time: 2 } });
    expect(pointLines(await read(true))).toEqual(POINTS);
  });

  test("takes the center of a visit whose place has no coordinates", async () => {
    const duration = { startTimestamp: "2021-03-28T01:20:00Z", endTimestamp: "2021-03-28T01:30:00Z" };
    const timelineObjects = [
      { placeVisit: { location: { name: "x" }, centerLatE7: 525163000, centerLngE7: 133777000, duration } },
      { activitySegment: { duration } },
      { somethingElse: {} },
    ];
    const found = await readWhole(googleSemantic, file({ timelineObjects }));
    expect(pointLines(found)).toEqual([
      "2021-03-28T01:20:00.000Z 52.5163 13.3777 google-semantic",
      "2021-03-28T01:30:00.000Z 52.5163 13.3777 google-semantic",
      "2021-03-28T01:20:00.000Z nowhere google-semantic",
      "2021-03-28T01:30:00.000Z nowhere google-semantic",
    ]);
    expect(found.skips).toEqual({ no_location: 1 });
  });
});

describe("googleTimeline", () => {
  test("reads paths, visits, activities and raw positions, with offsets as written", async () => {
    const found = await readWhole(googleTimeline, sampleContent("google/Timeline.json"));
    expect(pointLines(found)).toEqual([
      "2026-03-29T00:30:00.000Z 52.520008 13.404954 google-timeline",
      "2026-03-29T01:30:00.000Z 52.5201 13.4051 google-timeline",
      "2026-03-29T02:00:00.000Z 52.5163 13.3777 google-timeline",
      "2026-03-29T06:00:00.000Z 52.5163 13.3777 google-timeline",
      "2026-03-29T06:00:00.000Z 52.5163 13.3777 google-timeline",
      "2026-03-29T06:30:00.000Z 52.52 13.4049 google-timeline",
      "2026-03-29T06:05:00.000Z 52.520008 13.404954 google-timeline horizontal_accuracy=12 altitude=34.2 speed=3.4",
    ]);
    expect(found).toMatchObject({ skips: { no_location: 4 }, remarks: {}, error: null });
  });

  test.each(["52.5°, 13.4°, 35°", "52.5, 13.4, 35", "geo:52.5,13.4,35;u=12", " geo:52.5,13.4,35"])(
    "reads %p as a position with an altitude",
    async (point) => {
      const timelinePath = [{ point, time: "2026-03-29T01:30:00Z" }];
      const found = await readWhole(googleTimeline, file({ semanticSegments: [{ timelinePath }] }));
      expect(pointLines(found)).toEqual(["2026-03-29T01:30:00.000Z 52.5 13.4 google-timeline altitude=35"]);
    },
  );
});

describe("googleTimelineIos", () => {
  test("spreads what lies in one minute over it", async () => {
    const found = await readWhole(googleTimelineIos, sampleContent("google/location-history-ios.json"));
    expect(pointLines(found)).toEqual([
      "2018-12-26T15:23:48.869Z 52.5163 13.3777 google-timeline",
      "2018-12-26T18:55:26.237Z 52.5163 13.3777 google-timeline",
      "2018-12-26T18:55:26.237Z 52.5163 13.3777 google-timeline",
      "2018-12-27T10:35:33.000Z 52.52 13.4049 google-timeline",
      "2018-12-27T10:12:00.000Z 52.520008 13.404954 google-timeline",
      "2018-12-27T10:12:30.000Z 52.5201 13.4051 google-timeline",
      "2018-12-27T11:35:00.000Z 52.5202 13.4052 google-timeline",
    ]);
    expect(found).toMatchObject({ skips: {}, remarks: { spread: 2 }, error: null });
  });

  test("takes a missing offset for the start, and skips one that can't be in the segment", async () => {
    const point = "geo:52.5,13.4";
    const timelinePath = [
      { point, durationMinutesOffsetFromStartTime: "-3" },
      { point, durationMinutesOffsetFromStartTime: "soon" },
      { point, durationMinutesOffsetFromStartTime: "11" },
      { point },
      { point, durationMinutesOffsetFromStartTime: "0" },
    ];
    const found = await readWhole(
      googleTimelineIos,
      file([{ startTime: "2026-02-02T02:40:00Z", endTime: "2026-02-02T02:49:30Z", timelinePath }]),
    );
    expect(pointLines(found)).toEqual([
      "2026-02-02T02:40:00.000Z 52.5 13.4 google-timeline",
      "2026-02-02T02:40:30.000Z 52.5 13.4 google-timeline",
    ]);
    expect([found.remarks, found.skips]).toEqual([{ spread: 2 }, { bad_time: 3 }]);
  });
});

test("googleTimelineEdits reads what phones sent, of the devices that Google's records have", async () => {
  const position = {
    point: { latE7: 137628680, lngE7: 1006454630 },
    accuracyMm: 14063,
    altitudeMeters: -23.0,
    timestamp: "2026-07-06T05:23:01.340Z",
  };
  const edits = file({
    timelineEdits: [
      { deviceId: "9", rawSignal: { signal: { position } } },
      { deviceId: "8", rawSignal: { signal: { position: { ...position, accuracyMm: "wide" } } } },
      { deviceId: "9", rawSignal: { signal: { wifiScan: {} } } },
      { deviceId: "9", placeAggregates: {} },
    ],
  });
  expect(googleTimelineEdits.recognise(await readBeginning(edits))).toBe('it has "timelineEdits"');
  const beside = { googleDevices: new Map([["8", "Pixel"]]), hasGoogleRecords: true };
  const found = await readWhole(googleTimelineEdits, edits, { beside });
  const at = "2026-07-06T05:23:01.340Z 13.762868 100.645463";
  expect(pointLines(found)).toEqual([
    `${at} google-9 horizontal_accuracy=14.063 altitude=-23`,
    `${at} Pixel horizontal_accuracy=NaN altitude=-23`,
  ]);
  expect(found.skips).toEqual({ no_location: 2 });
});
