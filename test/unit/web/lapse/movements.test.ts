import { expect, test } from "bun:test";
import type { TracksAnswer } from "../../../../src/web/api/answers.ts";
import { worldX, worldY } from "../../../../src/web/geo/world.ts";
import {
  type Chunk,
  Movements,
  PIECE_KINDS,
  PIECE_WORDS,
  piecesWithin,
} from "../../../../src/web/lapse/movements.ts";
import * as fc from "../../../support/fast-check.ts";

const START_MS = 1_700_000_000_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const END_MS = 12 * HOUR_MS;

/** Ms since the start, latitude, longitude. */
type Vertex = readonly [ms: number, latitude: number, longitude: number];
type Fleet = Readonly<Record<string, readonly Vertex[]>>;

/** As the server answers for a part of the range. */
function answerOf(fleet: Fleet, fromMs: number, toMs: number): TracksAnswer {
  const all: Vertex[] = [];
  const [device_id, first, gaps] = [[] as string[], [] as number[], [] as number[]];
  for (const [id, vertices] of Object.entries(fleet)) {
    const own = vertices.filter(([ms]) => ms >= fromMs && ms < toMs);
    if (own.length === 0) continue;
    device_id.push(id);
    first.push(all.length);
    for (const [index, vertex] of own.entries()) {
      if (index > 0 && vertex[0] - own[index - 1]![0] > 10 * MINUTE_MS) gaps.push(all.length);
      all.push(vertex);
    }
  }
  const [timestamp, latitude, longitude] = [0, 1, 2].map((member) => all.map((vertex) => vertex[member]!));
  return {
    device_id,
    first,
    gaps,
    timestamp: timestamp!.map((ms) => START_MS + ms),
    latitude: latitude!,
    longitude: longitude!,
  };
}

/** The chunks of a range that is loaded in slices with these ends. */
function chunksOf(fleet: Fleet, ends: readonly number[]): Chunk[] {
  const movements = new Movements(START_MS);
  const chunks = ends.map((endMs, index) =>
    movements.add(answerOf(fleet, ends[index - 1] ?? 0, endMs), START_MS + endMs),
  );
  return [...chunks, movements.end()].filter((chunk) => chunk !== null);
}

/** What is drawn at a time, as the shader finds it: position and kind of each dot, sorted. */
function dotsAt(chunks: readonly Chunk[], ms: number): string[] {
  const dots: string[] = [];
  for (const chunk of chunks)
    for (const pieceClass of chunk.classes) {
      const { first, count } = piecesWithin(chunk, pieceClass, ms, ms);
      for (let piece = first; piece < first + count; piece++) {
        const [fromX, fromY, toX, toY, startMs, endMs, kind] = chunk.words.subarray(piece * PIECE_WORDS);
        if (ms < startMs! || ms >= endMs!) continue;
        const share = (ms - startMs!) / (endMs! - startMs!);
        const x = (fromX! + share * ((toX! - fromX!) | 0)) >>> 0;
        dots.push(`${x} ${Math.floor(fromY! + share * (toY! - fromY!))} ${kind === PIECE_KINDS.silent}`);
      }
    }
  return dots.sort();
}

/** The expected places, found by a plain loop over all positions. */
function obviousDotsAt(fleet: Fleet, ms: number): string[] {
  return Object.values(fleet)
    .flatMap((vertices) => {
      const next = vertices.findIndex(([vertexMs]) => vertexMs > ms);
      const before = vertices.at(next === -1 ? -1 : next - 1);
      if (next === 0 || before === undefined) return [];
      const [x, y] = [worldX(before[2]), worldY(before[1])];
      const after = vertices[next];
      const isLast = next === -1;
      const isSilent = !isLast || END_MS - before[0] > 10 * MINUTE_MS;
      const isJoined = !isLast && after![0] - before[0] <= 10 * MINUTE_MS;
      if (!isJoined) return ms < before[0] + 10 * MINUTE_MS ? [`${x} ${y} ${isSilent}`] : [];
      const share = (ms - before[0]) / (after![0] - before[0]);
      const way = [(worldX(after![2]) - x) | 0, worldY(after![1]) - y];
      return [`${(x + share * way[0]!) >>> 0} ${Math.floor(y + share * way[1]!)} false`];
    })
    .sort();
}

/** Steps of a device: some seconds to half an hour, and at most some hundred meters; around ±180°, too. */
const ways = fc
  .record({
    beginMs: fc.nat(3 * HOUR_MS),
    longitude: fc.constantFrom(10, 179.9995, -179.9995),
    steps: fc.array(
      fc.record({
        ms: fc.oneof(fc.integer({ min: 5000, max: 600_000 }), fc.integer({ min: 600_001, max: 1_800_000 })),
        north: fc.integer({ min: -9, max: 9 }),
        east: fc.integer({ min: -9, max: 9 }),
      }),
      { maxLength: 12 },
    ),
  })
  .map(({ beginMs, longitude, steps }) => {
    const vertices: Vertex[] = [[beginMs, 55, longitude]];
    for (const { ms, north, east } of steps) {
      const [lastMs, latitude, last] = vertices.at(-1)!;
      const turned = last + east / 10_000;
      const wrapped = turned > 180 ? turned - 360 : turned < -180 ? turned + 360 : turned;
      vertices.push([lastMs + ms, latitude + north / 10_000, wrapped]);
    }
    return vertices;
  });
const fleets = fc
  .array(ways, { minLength: 1, maxLength: 4 })
  .map((all): Fleet => Object.fromEntries(all.map((way, number) => [`ship-${number}`, way])));
const cuts = fc
  .array(fc.nat(END_MS - 1), { maxLength: 5 })
  .map((inner) => [...new Set(inner.filter((ms) => ms > 0))].sort((a, b) => a - b).concat(END_MS));

test("dots are where a plain loop over all positions puts them, however the range is cut into slices", () => {
  fc.assert(
    fc.property(
      fleets,
      cuts,
      fc.array(fc.nat(END_MS), { minLength: 10, maxLength: 10 }),
      (fleet, ends, times) => {
        const chunks = chunksOf(fleet, ends);
        const edges = Object.values(fleet).flatMap((way) => way.flatMap(([ms]) => [ms, ms - 1, ms + 1]));
        for (const ms of [...times, ...edges]) {
          if (ms >= 0 && ms < END_MS) expect(dotsAt(chunks, ms)).toEqual(obviousDotsAt(fleet, ms));
        }
      },
    ),
  );
});

test("a device that falls silent stays dim for ten minutes, and one at the end of the range stays as it is", () => {
  const fleet: Fleet = { early: [[0, 55, 10]], late: [[HOUR_MS - 1000, 56, 10]] };
  const chunks = chunksOf(fleet, [HOUR_MS]);
  const early = (isSilent: boolean) => `${worldX(10)} ${worldY(55)} ${isSilent}`;
  expect(dotsAt(chunks, 10 * MINUTE_MS - 1)).toEqual([early(true)]);
  expect(dotsAt(chunks, 10 * MINUTE_MS)).toEqual([]);
  expect(dotsAt(chunks, HOUR_MS)).toEqual([`${worldX(10)} ${worldY(56)} false`]);
});

test("standing devices differ from moving ones", () => {
  const moving: Vertex[] = [
    [0, 55, 10],
    [MINUTE_MS, 55.001, 10],
  ]; // 111 m in a minute.
  const standing: Vertex[] = [
    [0, 56, 10],
    [MINUTE_MS, 56.0001, 10],
  ];
  const [chunk] = chunksOf({ moving, standing }, [5 * MINUTE_MS]);
  const kindOf = (latitude: number) => {
    for (let at = 0; at < chunk!.words.length; at += PIECE_WORDS)
      if (chunk!.words[at + 1] === worldY(latitude)) return chunk!.words[at + 6];
    return null;
  };
  expect([kindOf(55), kindOf(56)]).toEqual([PIECE_KINDS.moving, PIECE_KINDS.standing]);
});

test("a frame looks at few pieces of a long range", () => {
  const way = Array.from({ length: 10_000 }, (_, index): Vertex => [index * 30_000, 55, 10 + index / 1e5]);
  const [chunk] = chunksOf({ ship: way }, [10_000 * 30_000]);
  const ms = 5000 * 30_000;
  const count = chunk!.classes.reduce((sum, each) => sum + piecesWithin(chunk!, each, ms, ms).count, 0);
  expect(count).toBeLessThanOrEqual(4);
});

test("a slice without devices has no chunk", () => {
  expect(chunksOf({}, [HOUR_MS, 2 * HOUR_MS])).toEqual([]);
});
