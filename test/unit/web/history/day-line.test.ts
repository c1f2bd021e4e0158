import { describe, expect, test } from "bun:test";
import { DayLine, type DayMap } from "../../../../src/web/history/day-line.ts";
import type { History } from "../../../../src/web/history/history.ts";
import { NO_ENDS } from "../../../../src/web/history/history.ts";
import { Track } from "../../../../src/web/history/track.ts";
import type { Plot } from "../../../../src/web/plots/plots.ts";
import { type LocalDay, spanNamed } from "../../../../src/web/time/local-day.ts";
import { VirtualTime } from "../../../support/stream/virtual-time.ts";
import { turns } from "../../../support/turns.ts";
import { FakeServer } from "../device/fake-server.ts";

type Bounds = Parameters<DayMap["fit"]>[0];

/** Of a town near the equator, in the middle of the map. */
const TOWN: Bounds = { west: 9.9, south: -0.1, east: 10.1, north: 0.1 };

/** The next line is awaited. */
function create({ bounds = TOWN, zoom = 11, isFollowing = false, isPlaced = true, hasMap = true } = {}) {
  const server = new FakeServer();
  const fitted: Bounds[] = [];
  const zoomsMax: (number | undefined)[] = [];
  const drawn: Parameters<DayMap["setDay"]>[0][] = [];
  const directions: Parameters<DayMap["setDirections"]>[0][] = [];
  const camera = { latitude: 0, zoom, bounds };
  let moved = () => {};
  let takeHand = () => {};
  const time = new VirtualTime();
  const map: DayMap = {
    camera: hasMap ? camera : null,
    isFollowing,
    isPlaced,
    onCamera(listener) {
      moved = listener;
      return () => {};
    },
    onHand(listener) {
      takeHand = listener;
      return () => {};
    },
    fit: (each, zoomMax) => {
      fitted.push(each);
      zoomsMax.push(zoomMax);
    },
    setDay: (day) => drawn.push(day),
    setDirections: (marks) => directions.push(marks),
  };
  const line = new DayLine(server, map, time);
  const move = (to: Partial<typeof camera>) => {
    Object.assign(camera, to);
    moved();
  };
  line.await();
  const settleMap = () => time.pass(250);
  return { server, line, fitted, zoomsMax, drawn, directions, move, takeHand, settleMap };
}

function historyOf(
  span: "day" | "week" | "year",
  longitudes: readonly number[] = [9.95, 10.05],
  deviceId = "bus",
): History {
  const track = new Track({
    ...{ total: 2, tolerance_meters: span === "day" ? 0 : 400, gaps: [] },
    ...{ timestamp: longitudes.map((_, index) => index * 1000), latitude: longitudes.map(() => 0) },
    longitude: longitudes,
  });
  return {
    ...{ deviceId, day: "2026-11-22" as LocalDay, zone: "UTC", span: spanNamed(span), isView: false },
    ...{
      range: { startMs: 0, endMs: 9 },
      track,
      reports: 2,
      isIncomplete: false,
      ends: NO_ENDS,
      stops: null,
    },
  };
}

/** Reported speeds, in km/h, of the second and the third of the bus. */
function speedOf(values: readonly (number | null)[]): Plot {
  const series = { timestamp: [0, 1], min: values, max: values, last: values };
  return {
    kind: { field: "speed", name: "Speed", unit: "km/h", factor: 3.6 },
    series,
    isFromPositions: false,
  };
}

const linesOf = (day: Parameters<DayMap["setDay"]>[0] | undefined) => day?.lines;

describe("the line of a day", () => {
  test("is drawn with its stops, and asks for nothing more however closely it is seen", async () => {
    const { server, line, drawn, move, settleMap } = create({ zoom: 18 });
    const stops = {
      ...{ distance_meters: 1, moving_seconds: 1 },
      stops: [{ start: 0, end: 120_000, latitude: 1, longitude: 2 }],
    };
    line.show({ ...historyOf("day"), stops });
    move({ zoom: 20 });
    await settleMap();
    expect(drawn.at(-1)).toEqual({
      lines: [
        [
          [9.95, 0],
          [10.05, 0],
        ],
      ],
      ...{ pieces: [], scale: null },
      stops: [{ latitude: 1, longitude: 2, number: 1, duration: "2 min" }],
      ends: [
        { latitude: 0, longitude: 9.95, name: "Start" },
        { latitude: 0, longitude: 10.05, name: "End" },
      ],
    });
    expect(server.asked).toHaveLength(0);
    line.show(null);
    expect(drawn.at(-1)).toBeNull();
  });

  test("is colored by its speeds once they are known", () => {
    const { line, drawn } = create();
    line.show(historyOf("day"));
    line.color(speedOf([null, 35]));
    expect(drawn.at(-1)).toMatchObject({
      pieces: [{ band: 3 }],
      scale: { limits: [10, 20, 30, 40], unit: "km/h", isFromPositions: false, stepMs: null },
    });
    line.show(historyOf("week"));
    line.color(speedOf([null, 35]));
    expect(drawn.at(-1)!.scale!.stepMs).toBe(1000 / 4000);
    line.color(null);
    expect(drawn.at(-1)).toMatchObject({ pieces: [], scale: null });
  });

  test("has marks of its direction, as far from each other at every zoom", async () => {
    const { line, directions, move, settleMap } = create({ zoom: 11 });
    line.show(historyOf("day"));
    const count = directions.at(-1)!.length;
    expect(count).toBeGreaterThan(0);
    move({ zoom: 12 });
    await settleMap();
    expect(directions.at(-1)!.length).toBeWithin(2 * count - 1, 2 * count + 2);
    line.show(null);
    expect(directions.at(-1)).toEqual([]);
  });

  test("has no end while its day lasts: there is the device itself", () => {
    const { line, drawn } = create();
    line.show({ ...historyOf("day"), range: { startMs: 0, endMs: Number.POSITIVE_INFINITY } });
    expect(drawn.at(-1)!.ends.map(({ name }) => name)).toEqual(["Start"]);
  });

  test("grows without moving the map", () => {
    const { line, drawn, fitted } = create({ bounds: { west: 50, south: 1, east: 51, north: 2 } });
    const history = historyOf("day");
    line.show(history);
    expect(fitted).toEqual([{ west: 9.95, south: 0, east: 10.05, north: 0 }]);
    history.track.append(2000, 0, 10.053);
    line.show(history);
    line.show({ ...history, track: history.track });
    expect(linesOf(drawn.at(-1))![0]).toHaveLength(3);
    expect(fitted).toHaveLength(1);
  });
});

describe("the map moves to another device's line", () => {
  test("by itself as close as a town or three zoom steps closer, and as close as it can where the user wants that", () => {
    const zoomsFrom = (zoom: number, bounds: Bounds) => {
      const { line, zoomsMax } = create({ bounds, zoom });
      line.show(historyOf("day"));
      line.fit();
      return zoomsMax;
    };
    expect(zoomsFrom(3, { west: -60, south: -40, east: 70, north: 40 })).toEqual([12, undefined]);
    expect(zoomsFrom(11, { west: 50, south: 1, east: 51, north: 2 })).toEqual([14, undefined]);
  });

  test("before there is a map, unless the address names a place", () => {
    const fitsWhere = (isPlaced: boolean) => {
      const { line, zoomsMax } = create({ hasMap: false, isPlaced });
      line.show(historyOf("day"));
      return zoomsMax;
    };
    expect([fitsWhere(false), fitsWhere(true)]).toEqual([[undefined], []]);
  });

  test("only where nothing of it is seen, or a spot", () => {
    const fitsAt = (bounds: Bounds, zoom: number) => {
      const { line, fitted } = create({ bounds, zoom });
      line.show(historyOf("day"));
      return fitted.length === 1;
    };
    expect(fitsAt(TOWN, 11)).toBe(false);
    expect(fitsAt({ west: 10.04, south: -1, east: 11, north: 1 }, 8)).toBe(false);
    expect(fitsAt({ west: 10.06, south: -1, east: 11, north: 1 }, 8)).toBe(true);
    expect(fitsAt({ west: -60, south: -60, east: 60, north: 60 }, 2)).toBe(true);
    expect(fitsAt({ west: 9, south: -5, east: 14, north: 5 }, 14)).toBe(false);
  });

  test("not once the user's hand has moved it elsewhere, until the next one is asked for", () => {
    const { line, fitted, takeHand } = create({ bounds: { west: 50, south: 1, east: 51, north: 2 } });
    takeHand();
    line.show(historyOf("day"));
    expect(fitted).toHaveLength(0);
    line.await();
    line.show(historyOf("day", [20, 21], "tram"));
    expect(fitted).toHaveLength(1);
    line.show(historyOf("day", [30, 31], "van"));
    expect(fitted).toHaveLength(1);
  });

  test("not away from a device that it follows", () => {
    const { line, fitted } = create({
      bounds: { west: 50, south: 1, east: 51, north: 2 },
      isFollowing: true,
    });
    line.show(historyOf("day"));
    expect(fitted).toHaveLength(0);
    line.fit();
    expect(fitted).toHaveLength(1);
  });

  test("once round the earth, too", () => {
    const { line, fitted } = create({ bounds: { west: 369.9, south: -0.1, east: 370.1, north: 0.1 } });
    line.show(historyOf("day"));
    expect(fitted).toHaveLength(0);
  });
});

describe("the line of a year", () => {
  test("is asked for again by the box that is seen, and some more, where it is too coarse", async () => {
    const { server, line, drawn } = create();
    line.show(historyOf("year"));
    const { query } = server.last("/track");
    expect(query).toMatchObject({ start: 0, end: 9, bbox: "9.85,-0.15,10.15,0.15" });
    expect(query.tolerance_meters).toBe(57); // 38 m are a pixel.
    await server.answerTrack([1, 2, 3]);
    expect(linesOf(drawn.at(-1))![0]).toHaveLength(3);
  });

  test("is good enough from afar", () => {
    const { server, line } = create({ zoom: 7 });
    line.show(historyOf("year"));
    expect(server.asked).toHaveLength(0);
  });

  test("is asked for once more only where hands have come to rest at what is not there", async () => {
    const { server, line, move, settleMap } = create();
    line.show(historyOf("year"));
    await server.answerTrack([1, 2, 3]);
    move({ bounds: { ...TOWN, west: 9.88 } });
    await settleMap();
    expect(server.asked).toHaveLength(1);
    move({ bounds: { ...TOWN, west: 9.7 } });
    move({ bounds: { ...TOWN, west: 9.6 } });
    await settleMap();
    expect(server.asked).toHaveLength(2);
  });

  test("grows where it is seen closely, too", async () => {
    const { server, line, drawn } = create();
    const history = historyOf("year");
    line.show(history);
    await server.answerTrack([1, 2, 3]);
    history.track.append(4000, 0, 0.0025);
    line.show(history);
    expect(linesOf(drawn.at(-1))![0]).toHaveLength(4);
  });

  test("stays coarse where the server can't be asked, and what is given up is not drawn", async () => {
    const { server, line, drawn } = create();
    line.show(historyOf("year"));
    await server.refuse("/track");
    expect(linesOf(drawn.at(-1))![0]).toHaveLength(2);
    line.show(historyOf("year", [9.95, 10, 10.05], "tram"));
    const [asked] = server.open("/track").slice(-1);
    line.show(null);
    await turns();
    expect([asked!.signal?.aborted, drawn.at(-1)]).toEqual([true, null]);
  });

  test("is another than that of the day that it begins with", async () => {
    const { server, line, drawn, fitted } = create({
      bounds: { ...TOWN, west: 9.99, east: 10.01 },
      zoom: 14,
    });
    line.show({ ...historyOf("year"), range: { startMs: 0, endMs: 365 } });
    await server.answerTrack([1, 2, 3]);
    expect([linesOf(drawn.at(-1))![0]!.length, fitted.length]).toEqual([3, 0]);
    line.await();
    line.show({ ...historyOf("day", [30, 30.1]), range: { startMs: 0, endMs: 1 } });
    expect(linesOf(drawn.at(-1))).toEqual([
      [
        [30, 0],
        [30.1, 0],
      ],
    ]);
    expect(fitted).toHaveLength(1);
  });

  test("is asked for over ±180° as the server has it", () => {
    const { server, line } = create({ bounds: { west: 179.9, south: -0.1, east: 180.1, north: 0.1 } });
    line.show(historyOf("year", [179.95, -179.95]));
    expect(server.last("/track").query.bbox).toBe("179.85,-0.15,-179.85,0.15");
  });
});
