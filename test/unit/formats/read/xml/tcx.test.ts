import { describe, expect, test } from "bun:test";
import { tcx } from "../../../../../src/formats/read/xml/tcx.ts";
import { contentOf, type Findings, readWhole, sampleContent } from "../../../../support/formats/read-file.ts";

const TIME_MS = Date.UTC(2026, 1, 2, 2, 40);

function trackpoint(members = ""): string {
  return `<Trackpoint><Time>2026-02-02T02:40:00Z</Time><Position><LatitudeDegrees>52.5</LatitudeDegrees>
    <LongitudeDegrees>13.4</LongitudeDegrees></Position>${members}</Trackpoint>`;
}

function activity(points: string, creator = ""): string {
  return `<Activity><Lap><Track>${points}</Track></Lap>${creator}</Activity>`;
}

function read(activities: string, options = {}): Promise<Findings> {
  return readWhole(tcx, contentOf(`<TrainingCenterDatabase>${activities}</TrainingCenterDatabase>`), options);
}

function creator(name: string, unit?: string): string {
  return `<Creator><Name>${name}</Name>${unit === undefined ? "" : `<UnitId>${unit}</UnitId>`}</Creator>`;
}

describe("samples", () => {
  const unplaced = ({ points }: Findings) =>
    points.filter(({ latitude, longitude }) => latitude === null || longitude === null);

  test("of a runner, whole", async () => {
    const found = await readWhole(tcx, sampleContent("tcx/sample.tcx"));
    expect(found).toMatchObject({ error: null, skips: {} });
    expect(found.points).toHaveLength(19);
    expect(unplaced(found)).toHaveLength(2);
    expect(found.points[0]).toEqual({
      timestampMs: Date.UTC(2007, 7, 7, 2, 42, 41),
      latitude: 37.8959665,
      longitude: -122.4896709,
      device: "Forerunner305-3332601296",
      user: null,
      details: { altitude: 3.982666, speed: 6.008999824523926 },
    });
    expect(found.places.slice(0, 2)).toEqual([20, 36]);
  });

  test("of Strava's archive, with blanks before the declaration, holds the same", async () => {
    const found = await readWhole(tcx, sampleContent("tcx/strava-leading-blanks.tcx"));
    expect(found).toEqual(await readWhole(tcx, sampleContent("tcx/sample.tcx")));
  });

  test("of a watch on the water", async () => {
    const { points, error, skips } = await readWhole(tcx, sampleContent("tcx/garmin-sup.tcx"));
    expect([points.length, error, skips]).toEqual([111, null, {}]);
    expect(new Set(points.map(({ device }) => device))).toEqual(new Set(["vívoactive HR-3937453043"]));
  });

  test("of positions at 0/0 and of words in place of numbers", async () => {
    const found = await readWhole(tcx, sampleContent("tcx/positions-at-zero.tcx"));
    expect(found.points.map(({ latitude, longitude }) => [latitude, longitude])).toEqual([
      [0, 0],
      [0, 10],
      [Number.NaN, Number.NaN],
      [Number.NaN, 10],
    ]);
    expect(found.points[0]).toMatchObject({
      timestampMs: Date.UTC(2020, 11, 27, 14, 59, 36),
      device: "Fitbit Versa",
    });
  });
});

describe("points", () => {
  test("take nothing of what lies around them, or of other names' parents", async () => {
    const members =
      "<HeartRateBpm><Value>5</Value></HeartRateBpm><Extensions><LX><Speed>9</Speed></LX></Extensions>";
    const lap = "<Extensions><LX><TPX><Speed>9</Speed></TPX></LX></Extensions>";
    const { points } = await read(activity(`${trackpoint(members)}${lap}`));
    expect(points).toEqual([
      { timestampMs: TIME_MS, latitude: 52.5, longitude: 13.4, device: null, user: null, details: {} },
    ]);
  });

  test("have a speed in the unit that the operator names, and none below zero", async () => {
    const speed = (value: number) =>
      trackpoint(`<Extensions><a:TPX><a:Speed>${value}</a:Speed></a:TPX></Extensions>`);
    const { points } = await read(activity(speed(36) + speed(-1)), { speedUnit: "kmh" });
    expect(points.map(({ details }) => details)).toEqual([{ speed: 10 }, {}]);
  });

  test("without a position, as on a treadmill, have none", async () => {
    const { points } = await read(activity("<Trackpoint><Time>2026-02-02T02:40:00Z</Time></Trackpoint>"));
    expect(points).toMatchObject([{ timestampMs: TIME_MS, latitude: null, longitude: null }]);
  });

  test("of a course are a plan", async () => {
    const course = `<Courses><Course><Track>${trackpoint()}${trackpoint()}</Track></Course></Courses>`;
    const { points, skips } = await read(`${course}<Activities>${activity(trackpoint())}</Activities>`);
    expect([points.length, skips]).toEqual([1, { route_point: 2 }]);
  });
});

describe("the device", () => {
  const devicesOf = async (text: string) => (await read(text)).points.map(({ device }) => device);

  test("is the creator that stands behind the points, with its number where it has one", async () => {
    expect(await devicesOf(activity(trackpoint(), creator("Edge &amp; 500", "17")))).toEqual([
      "Edge & 500-17",
    ]);
    expect(await devicesOf(activity(trackpoint(), creator("Edge", "0")))).toEqual(["Edge"]);
    expect(await devicesOf(activity(trackpoint(), creator("Edge")))).toEqual(["Edge"]);
    expect(await devicesOf(activity(trackpoint(), creator("", "17")))).toEqual([null]);
  });

  test("is one for all activities", async () => {
    const [first, second] = [creator("Edge", "1"), creator("Edge", "2")];
    const one = activity(trackpoint(), first);
    expect(await devicesOf(activity(trackpoint()) + one + one)).toEqual(["Edge-1", "Edge-1", "Edge-1"]);
    expect(await devicesOf(one + activity(trackpoint(), second) + one)).toEqual([null, null, null]);
    expect(await devicesOf(one + activity(trackpoint(), creator("Edge")))).toEqual([null, null]);
  });

  test("is not known of a file that is cut off before it", async () => {
    const { points, error } = await readWhole(
      tcx,
      contentOf(`<TrainingCenterDatabase>${trackpoint()}<Creator><Name>E`),
    );
    expect(points).toMatchObject([{ device: null }]);
    expect(error?.message).toContain("cut off within <Name>");
  });
});

test("recognise() tells TCX by its outermost element", () => {
  const recognise = (text: string) =>
    tcx.recognise({ bytes: new TextEncoder().encode(text), text, isWhole: false, name: "a.tcx" });
  expect(recognise("<a:TrainingCenterDatabase>")).toBe("its outermost element is <TrainingCenterDatabase>");
  expect(recognise("<gpx>")).toBeNull();
});
