import { expect, test } from "bun:test";
import { BoundingBox } from "../../../../../src/model/geo/bounding-box.ts";
import { haversineMeters } from "../../../../../src/model/geo/distance.ts";
import type { DeviceId } from "../../../../../src/model/ids.ts";
import {
  FleetLines,
  type FleetLinesOptions,
  type FleetTracks,
} from "../../../../../src/service/queries/track/fleet-lines.ts";
import * as fc from "../../../../support/fast-check.ts";
import { type Position, paths } from "../paths.ts";

const OPTIONS: FleetLinesOptions = { toleranceMeters: 30, verticesMax: 10_000, devicesMax: 100, box: null };

interface FleetRecord extends Position {
  readonly device: string;
}

function thin(records: readonly FleetRecord[], options: Partial<FleetLinesOptions> = {}): FleetTracks | null {
  const lines = new FleetLines({ ...OPTIONS, ...options });
  for (const [index, { device, timestampMs, latitude, longitude }] of records.entries()) {
    lines.add(device as DeviceId, timestampMs, latitude, longitude);
    if (index % 5 === 0) for (const _step of lines.catchUp());
  }
  const steps = lines.end();
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** The lines of each device. */
function linesOf(tracks: FleetTracks): Record<string, Position[][]> {
  const lines: Record<string, Position[][]> = {};
  const gaps = new Set(tracks.gaps);
  for (const [place, id] of tracks.deviceIds.entries()) {
    const own: Position[][] = [];
    const end = tracks.first[place + 1] ?? tracks.timestampMs.length;
    for (let at = tracks.first[place]!; at < end; at++) {
      if (at === tracks.first[place] || gaps.has(at)) own.push([]);
      const [timestampMs, latitude] = [tracks.timestampMs[at]!, tracks.latitude[at]!];
      own.at(-1)!.push({ timestampMs, latitude, longitude: tracks.longitude[at]! });
    }
    lines[id] = own;
  }
  return lines;
}

/** Every record of each device, broken by the rule itself. */
function obviousLines(records: readonly FleetRecord[]): Record<string, Position[][]> {
  const lines: Record<string, Position[][]> = {};
  for (const { device, ...position } of records) {
    lines[device] ??= [];
    const before = lines[device].at(-1)?.at(-1);
    const ms = position.timestampMs - (before?.timestampMs ?? 0);
    const isJoined = before !== undefined && ms <= 600_000 && metersBetween(before, position) <= 0.4 * ms;
    if (isJoined) lines[device].at(-1)!.push(position);
    else lines[device].push([position]);
  }
  return lines;
}

function metersBetween(a: Position, b: Position): number {
  return haversineMeters(a.latitude, a.longitude, b.latitude, b.longitude);
}

/** Where a device is that moves evenly from vertex to vertex. */
function positionAt(line: readonly Position[], timestampMs: number): Position {
  const next = line.findIndex((vertex) => vertex.timestampMs >= timestampMs);
  const b = line[next]!;
  const a = line[Math.max(0, next - 1)]!;
  if (a === b) return b;
  const share = (timestampMs - a.timestampMs) / (b.timestampMs - a.timestampMs);
  let turn = b.longitude - a.longitude;
  if (Math.abs(turn) > 180) turn -= 360 * Math.sign(turn);
  const latitude = a.latitude + share * (b.latitude - a.latitude);
  return { timestampMs, latitude, longitude: a.longitude + share * turn };
}

/** Paths of several devices, whose records come in turns. */
const fleets = fc.array(paths, { minLength: 1, maxLength: 3 }).map((all) =>
  all
    .flatMap((path, number) => path.map((position) => ({ device: `bus-${number}`, ...position })))
    .filter(({ latitude }) => Math.abs(latitude) < 80) // At a pole a degree of longitude has no length.
    .sort((a, b) => a.timestampMs - b.timestampMs),
);

function expectWithin(records: readonly FleetRecord[], tracks: FleetTracks): void {
  const thinned = linesOf(tracks);
  const obvious = obviousLines(records);
  expect(Object.keys(thinned)).toEqual(Object.keys(obvious).sort());
  for (const [device, lines] of Object.entries(obvious)) {
    const own = thinned[device]!;
    expect(own.map((line) => line[0])).toEqual(lines.map((line) => line[0]));
    expect(own.map((line) => line.at(-1))).toEqual(lines.map((line) => line.at(-1)));
    for (const [index, line] of lines.entries())
      for (const record of line) {
        const meters = metersBetween(positionAt(own[index]!, record.timestampMs), record);
        expect(meters).toBeLessThanOrEqual(1.01 * tracks.toleranceMeters + 1e-3);
      }
  }
}

test("each record is within the tolerance of where a device is then that moves evenly between vertices", () => {
  fc.assert(
    fc.property(fleets, fc.constantFrom(0, 5, 30, 400), (records, toleranceMeters) => {
      const tracks = thin(records, { toleranceMeters })!;
      expect(tracks).toMatchObject({ total: records.length, toleranceMeters });
      expectWithin(records, tracks);
    }),
  );
});

test("if there are too many vertices, the tolerance doubles until they fit", () => {
  fc.assert(
    fc.property(fleets, (records) => {
      const ends = Object.values(obviousLines(records)).flat();
      const verticesMax = ends.reduce((sum, line) => sum + Math.min(2, line.length), 0) + 8;
      const tracks = thin(records, { verticesMax, toleranceMeters: 1 });
      if (tracks === null) return; // Long lines keep more vertices than their ends.
      expect(tracks.timestampMs.length).toBeLessThanOrEqual(verticesMax);
      expectWithin(records, tracks);
    }),
  );
});

const SECOND = 1000;
const atSecond = (second: number, latitude: number, device = "bus"): FleetRecord => ({
  device,
  timestampMs: second * SECOND,
  latitude,
  longitude: 10,
});

test("a straight way at an even speed has two vertices, and a stay on it keeps its begin and its end", () => {
  const even = Array.from({ length: 500 }, (_, second) => atSecond(second, 50 + second / 10_000));
  expect(thin(even)!.timestampMs).toHaveLength(2);
  const stays = [
    ...even.slice(0, 100),
    ...Array.from({ length: 300 }, (_, index) => atSecond(100 + index, 50.01)),
    ...even.slice(101, 200).map((record) => ({ ...record, timestampMs: record.timestampMs + 300_000 })),
  ];
  const [line] = linesOf(thin(stays)!).bus!;
  expect(line!.length).toBeLessThanOrEqual(6);
  for (const second of [110, 250, 390])
    expect(metersBetween(positionAt(line!, second * SECOND), atSecond(second, 50.01))).toBeLessThan(31);
});

test("a box cuts lines at its edges, and devices outside are not there", () => {
  const records = [50, 50.01, 50.02, 50.01, 50].map((latitude, index) => atSecond(index * 60, latitude));
  const box = new BoundingBox(0, 0, 20, 50.015);
  const tracks = thin([...records, atSecond(0, 60, "other")], { box, toleranceMeters: 0 })!;
  expect(linesOf(tracks).bus!.map((line) => line.map(({ latitude }) => latitude))).toEqual([
    [50, 50.01],
    [50.01, 50],
  ]);
  expect({ ids: tracks.deviceIds, total: tracks.total }).toEqual({ ids: ["bus"] as DeviceId[], total: 4 });
});

test("too many devices or silences have no answer", () => {
  const devices = Array.from({ length: 101 }, (_, device) => atSecond(device, 50, String(device)));
  expect(thin(devices)).toBe(null);
  const silent = Array.from({ length: 200 }, (_, hour) => atSecond(hour * 3600, 50));
  expect(thin(silent, { verticesMax: 100 })).toBe(null);
});

test("no records have no lines", () => {
  expect(thin([])).toMatchObject({ deviceIds: [], total: 0 });
});
