import { describe, expect, test } from "bun:test";
import { View } from "../../../../../src/auth/view.ts";
import { BoundingBox } from "../../../../../src/model/geo/bounding-box.ts";
import { haversineMeters } from "../../../../../src/model/geo/distance.ts";
import type { DeviceId } from "../../../../../src/model/ids.ts";
import {
  type Line,
  LineBuilder,
  type LineOptions,
} from "../../../../../src/service/queries/track/line-builder.ts";
import * as fc from "../../../../support/fast-check.ts";
import { metersToLine } from "./plain-distance.ts";

/**
 * Goal: lines have few vertices, and no record is further from them than the tolerance, wherever on earth; they are
 * broken where nobody knows which way a device went, and nowhere else. A plain loop over all records says so.
 */

/** Time, latitude, longitude. */
type Place = readonly [timestampMs: number, latitude: number, longitude: number];

function build(records: readonly Place[], options: Partial<LineOptions> = {}, blockRows = 7): Line {
  const builder = new LineBuilder({
    toleranceMeters: 10,
    box: null,
    blur: null,
    verticesMax: 50_000,
    ...options,
  });
  for (let from = 0; from < records.length; from += blockRows) {
    const rows = records.slice(from, from + blockRows);
    const column = (member: number) => Float64Array.from(rows, (row) => row[member]!);
    const [timestampMs, latitude, longitude] = [column(0), column(1), column(2)];
    builder.add({ count: rows.length, timestampMs, latitude, longitude, numbers: [] });
    for (const _step of builder.work());
  }
  const steps = builder.end();
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

function verticesOf({ vertices }: Line): Place[] {
  return Array.from({ length: vertices.count }, (_, i) => [
    vertices.timestampMs[i]!,
    vertices.latitude[i]!,
    vertices.longitude[i]!,
  ]);
}

/** The vertices of each line. */
function linesOf(line: Line): Place[][] {
  const { starts } = line.vertices;
  const vertices = verticesOf(line);
  return starts.map((start, index) => vertices.slice(start, starts[index + 1]));
}

/** The same where every record is a vertex, by the rule itself. */
function plainLines(records: readonly Place[]): Place[][] {
  const lines: Place[][] = [];
  for (const [index, record] of records.entries()) {
    const before = records[index - 1];
    const [ms, latitude, longitude] = record;
    const seconds = before === undefined ? Number.NaN : (ms - before[0]) / 1000;
    const meters = before === undefined ? 0 : haversineMeters(before[1], before[2], latitude, longitude);
    if (seconds <= 600 && meters <= 400 * seconds) lines.at(-1)!.push(record);
    else lines.push([record]);
  }
  return lines;
}

/** How far a record is from the line between the vertices before and after it, or from the one before over a gap. */
function metersFrom(line: Line, record: Place): number {
  const lines = linesOf(line);
  const own = lines.find((vertices) => vertices[0]![0] <= record[0] && vertices.at(-1)![0] >= record[0]);
  if (own === undefined) {
    const before = verticesOf(line).findLast(([ms]) => ms <= record[0])!;
    return haversineMeters(before[1], before[2], record[1], record[2]);
  }
  const after = own.findIndex(([ms]) => ms >= record[0]);
  return metersToLine(own[Math.max(0, after - 1)]!, own[after]!, record);
}

/** Ways that lead over poles and ±180°, stand and jitter, go straight, turn, fall silent and jump. */
const step = fc.record({
  ms: fc.constantFrom(1000, 1000, 5000, 60_000, 600_000, 600_001),
  metersPerSecond: fc.constantFrom(0, 0.5, 1, 10, 30, 250, 390, 410),
  turn: fc.constantFrom(0, 0, 0.01, -0.3, 1.6, 3.1),
});
const ways = fc
  .record({
    latitude: fc.constantFrom(0, 42.36, -89.9999, 90, 89.99, -45),
    longitude: fc.constantFrom(0, -71.05, 179.9999, -180, 180),
    heading: fc.constantFrom(0, 1.57, -1.57, 3.14),
    steps: fc.array(step, { minLength: 0, maxLength: 120 }),
    repeats: fc.constantFrom(1, 1, 12),
  })
  .map(({ latitude, longitude, heading, steps, repeats }) => {
    const way: Place[] = [[1_000_000, latitude, longitude]];
    let ms = 1_000_000;
    let direction: number = heading;
    let [lat, lon]: [number, number] = [latitude, longitude];
    for (let repeat = 0; repeat < repeats; repeat++) {
      for (const { ms: elapsedMs, metersPerSecond, turn } of steps) {
        ms += elapsedMs;
        direction += turn;
        [lat, lon] = gone(lat, lon, direction, (metersPerSecond * elapsedMs) / 1000);
        way.push([ms, lat, lon]);
      }
    }
    return way;
  });

/** Where one comes who leaves in a direction and goes straight on. */
function gone(latitude: number, longitude: number, direction: number, meters: number): [number, number] {
  const [lat, lon, angle] = [(latitude * Math.PI) / 180, (longitude * Math.PI) / 180, meters / 6_371_008.8];
  const to = Math.asin(
    Math.sin(lat) * Math.cos(angle) + Math.cos(lat) * Math.sin(angle) * Math.cos(direction),
  );
  const east = Math.atan2(
    Math.sin(direction) * Math.sin(angle) * Math.cos(lat),
    Math.cos(angle) - Math.sin(lat) * Math.sin(to),
  );
  const degrees = ((lon + east) * 180) / Math.PI;
  return [(to * 180) / Math.PI, degrees > 180 ? degrees - 360 : degrees < -180 ? degrees + 360 : degrees];
}

const tolerances = fc.constantFrom(0, 0.5, 10, 100, 5000, 1_000_000);

describe("any way", () => {
  test("is a line that no record is further from than the tolerance, broken where it must be", () => {
    fc.assert(
      fc.property(ways, tolerances, fc.constantFrom(1, 7, 300), (way, toleranceMeters, blockRows) => {
        const line = build(way, { toleranceMeters }, blockRows);
        expect(line.total).toBe(way.length);
        expect(line.toleranceMeters).toBe(toleranceMeters);
        for (const record of way)
          expect(metersFrom(line, record)).toBeLessThanOrEqual(toleranceMeters * (1 + 1e-9) + 1e-6);
        // Both sides of every gap stay, and so do the first and the last record of all.
        const ends = (lines: Place[][]) => lines.map((vertices) => [vertices[0]!, vertices.at(-1)!]);
        expect(ends(linesOf(line))).toEqual(ends(plainLines(way)));
        if (toleranceMeters === 0) expect(linesOf(line)).toEqual(plainLines(way));
      }),
      { numRuns: 300, endOnFailure: true },
    );
  });

  test("has no more vertices than there may be: the tolerance doubles until it fits", () => {
    fc.assert(
      fc.property(ways, tolerances, fc.integer({ min: 4, max: 40 }), (way, toleranceMeters, verticesMax) => {
        const line = build(way, { toleranceMeters, verticesMax });
        const vertices = verticesOf(line);
        expect(vertices.length).toBeLessThanOrEqual(verticesMax);
        expect([vertices[0], vertices.at(-1)]).toEqual([way[0], way.at(-1)]);
        const doubled = line.toleranceMeters / Math.max(1, toleranceMeters);
        if (line.toleranceMeters !== toleranceMeters) expect(Math.log2(doubled) % 1).toBe(0);
        for (const record of way)
          expect(metersFrom(line, record)).toBeLessThanOrEqual(line.toleranceMeters * (1 + 1e-9) + 1e-6);
        // As long as there is room for them, both sides of gaps stay.
        const plain = plainLines(way);
        if (2 * plain.length <= verticesMax) {
          const ends = (lines: Place[][]) => lines.map((line) => [line[0]!, line.at(-1)!]);
          expect(ends(linesOf(line))).toEqual(ends(plain));
        }
        // A coarser one would have done for nobody who asked for it to begin with.
        if (line.toleranceMeters === toleranceMeters)
          expect(vertices).toEqual(verticesOf(build(way, { toleranceMeters })));
      }),
      { numRuns: 300, endOnFailure: true },
    );
  });

  test("is the same line however its records come in blocks", () => {
    fc.assert(
      fc.property(ways, tolerances, fc.integer({ min: 4, max: 40 }), (way, toleranceMeters, verticesMax) => {
        const [one, other] = [1, 50].map((rows) => build(way, { toleranceMeters, verticesMax }, rows));
        expect([linesOf(one!), one!.toleranceMeters]).toEqual([linesOf(other!), other!.toleranceMeters]);
      }),
      { numRuns: 200, endOnFailure: true },
    );
  });

  test("is cut to what is needed to draw it in a box", () => {
    const boxes = fc.constantFrom(
      new BoundingBox(-0.01, -0.01, 0.01, 0.01),
      new BoundingBox(179.9, -90, -179.9, 90),
      new BoundingBox(-71.1, 42.3, -71, 42.4),
      new BoundingBox(-180, 89.9, 180, 90),
      new BoundingBox(10, 10, 11, 11),
    );
    fc.assert(
      fc.property(ways, boxes, (way, box) => {
        const line = build(way, { toleranceMeters: 0, box });
        expect(line.total).toBe(way.length);
        const shown: Place[][] = [];
        for (const vertices of plainLines(way)) {
          let isOpen = false;
          for (const [index, record] of vertices.entries()) {
            const before = vertices[index - 1];
            const touches = before !== undefined && box.touches(before[1], before[2], record[1], record[2]);
            if (touches && isOpen) shown.at(-1)!.push(record);
            else if (touches) shown.push([before, record]);
            else if (box.contains(record[1], record[2])) shown.push([record]);
            isOpen = touches || box.contains(record[1], record[2]);
          }
        }
        expect(linesOf(line)).toEqual(shown);
      }),
      { numRuns: 200, endOnFailure: true },
    );
  });
});

test("no records are no line", () => {
  expect(linesOf(build([]))).toEqual([]);
  expect(build([]).total).toBe(0);
});

test("one record is a line of one vertex", () => {
  expect(linesOf(build([[5, 1, 2]]))).toEqual([[[5, 1, 2]]]);
});

test("a straight stretch keeps a vertex every so often, so that it is as straight in every projection", () => {
  const east = Array.from({ length: 601 }, (_, i): Place => [i * 1000, 0, i * 0.002]);
  const vertices = verticesOf(build(east));
  const steps = vertices.slice(1).map((vertex, i) => haversineMeters(0, vertices[i]![2], 0, vertex[2]));
  expect(vertices.length).toBeGreaterThan(4);
  expect(Math.max(...steps)).toBeLessThan(2 * Math.sqrt(2 * 6_371_009 * 10));
});

test("lines that are too many by their ends alone go where they lie around the vertex before", () => {
  const hops = fc.array(fc.tuple(fc.integer({ min: -90, max: 90 }), fc.integer({ min: -90, max: 90 })), {
    minLength: 30,
    maxLength: 100,
  });
  fc.assert(
    fc.property(hops, fc.integer({ min: 4, max: 20 }), (places, verticesMax) => {
      const hourly = places.map(([north, east], i): Place => [i * 3_600_000, 50 + north * 1e-5, east * 1e-5]);
      const line = build(hourly, { verticesMax });
      const vertices = verticesOf(line);
      expect(vertices.length).toBeLessThanOrEqual(verticesMax);
      expect([vertices[0], vertices.at(-1)]).toEqual([hourly[0], hourly.at(-1)]);
      for (const record of hourly)
        expect(metersFrom(line, record)).toBeLessThanOrEqual(line.toleranceMeters * (1 + 1e-9) + 1e-6);
    }),
    { numRuns: 200, endOnFailure: true },
  );
  const apart = Array.from({ length: 100 }, (_, i): Place => [i * 3_600_000, 0, i % 2 === 0 ? 0 : 180]);
  const few = verticesOf(build(apart, { verticesMax: 20 }));
  expect(few.length).toBeLessThanOrEqual(20);
  expect([few[0], few.at(-1)]).toEqual([apart[0], apart.at(-1)]);
});

test("a lone record between two silences stays, however coarse the line, while there is room for it", () => {
  const zigzag = (fromMs: number, width: number) =>
    Array.from({ length: 30 }, (_, i): Place => [fromMs + i * 1000, (i % 2) * width, i * 1e-4]);
  const lone: Place = [1_000_000, 3e-4, 29.1e-4];
  const line = build([...zigzag(0, 3e-4), lone, ...zigzag(2_000_000, 3e-3)], { verticesMax: 20 });
  expect(line.toleranceMeters).toBeGreaterThan(10);
  expect(linesOf(line)[1]).toEqual([lone]);
});

describe("a line that is blurred", () => {
  const blurOf = (precisionMeters: number) =>
    new View({ deviceIds: ["bus" as DeviceId], notBeforeMs: 0, precisionMeters });

  test("is not broken where the device stood and went on reporting", () => {
    const stood = Array.from({ length: 31 }, (_, i): Place => [i * 60_000, 50, i < 30 ? 0.0001 : 0.01]);
    expect(linesOf(build(stood, { blur: blurOf(500) })).map((line) => line.length)).toEqual([2]);
  });

  test("is not broken where two records of a minute are in neighbouring cells", () => {
    const blur = blurOf(100_000);
    const way = Array.from({ length: 40 }, (_, i): Place => [i * 1000, 50, i * 0.05]);
    const lines = linesOf(build(way, { blur }));
    expect(lines.map((line) => line.length > 1)).toEqual([true]);
    const jump: Place[] = [...way, [41_000, 50, 90]];
    expect(linesOf(build(jump, { blur }))).toHaveLength(2);
  });
});
