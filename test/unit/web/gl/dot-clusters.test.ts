import { expect, test } from "bun:test";
import type { DeviceTable } from "../../../../src/web/devices/device-table.ts";
import { worldX, worldY } from "../../../../src/web/geo/world.ts";
import { DOT_WORDS, DotBuffer, isDrawn } from "../../../../src/web/gl/dot-buffer.ts";
import {
  CLUSTER_DOTS_MAX,
  type Cluster,
  clusterRadius,
  DotClusters,
} from "../../../../src/web/gl/dot-clusters.ts";
import * as fc from "../../../support/fast-check.ts";
import { tableOf } from "./dot-fleet.ts";

type Place = readonly [latitude: number, longitude: number];

const [SYDNEY, FIJI, OSLO]: Place[] = [
  [-33.9, 151.2],
  [-17, 179.9],
  [59.9, 10.7],
] as const;

function fleet(...crowds: readonly (readonly [place: Place, count: number])[]) {
  const table = tableOf(
    crowds.flatMap(([[latitude, longitude], count]) =>
      Array.from({ length: count }, () => ({ latitude, longitude, timestamp: 1 })),
    ),
  );
  const buffer = new DotBuffer();
  buffer.update(table, { kind: "all" }, 0);
  return { table, buffer };
}

function drawnCount({ words, size }: DotBuffer): number {
  return Array.from({ length: size }, (_, row) => isDrawn(words[row * DOT_WORDS + 6]!)).filter(Boolean)
    .length;
}

test("a cell with more than 500 dots is a cluster, and its dots are hidden", () => {
  const { buffer } = fleet([SYDNEY!, 501], [OSLO!, 500], [FIJI!, 3]);
  const clusters = new DotClusters();
  clusters.update(buffer, 5.9);
  expect(clusters.clusters).toEqual([{ x: worldX(SYDNEY![1]), y: worldY(SYDNEY![0]), count: 501 }]);
  expect(drawnCount(buffer)).toBe(503);
  const reach = 1000;
  expect(buffer.nearest(worldX(SYDNEY![1]), worldY(SYDNEY![0]), reach, 0)).toBeNull();
  expect(buffer.nearest(worldX(OSLO![1]), worldY(OSLO![0]), reach, 0)).not.toBeNull();
  clusters.update(buffer, 6);
  expect([clusters.clusters.length, drawnCount(buffer)]).toEqual([0, 1004]);
});

test("a crowd across the edge of two cells is one cluster, also across ±180°", () => {
  const { buffer } = fleet([[51, -0.2], 600], [[51, 0.2], 900], [[-17, 179.9], 700], [[-17, -179.9], 700]);
  const clusters = new DotClusters();
  clusters.update(buffer, 3);
  expect(clusters.clusters.map(({ count }) => count).sort()).toEqual([1400, 1500]);
  const [fiji, london] = [...clusters.clusters].sort((a, b) => a.count - b.count) as [Cluster, Cluster];
  expect(Math.abs(london.x - worldX(0.04))).toBeLessThan(10);
  expect(Math.abs((fiji.x - worldX(180)) | 0)).toBeLessThan(10);
  expect(Math.abs(fiji.y - worldY(-17))).toBeLessThan(1);
});

test("a cluster remains one while a few devices leave it, but not at another zoom", () => {
  const { table, buffer } = fleet([SYDNEY!, 501]);
  const clusters = new DotClusters();
  clusters.update(buffer, 4);
  moveAway(table, buffer, 40);
  clusters.update(buffer, 4.5);
  expect(clusters.clusters.map(({ count }) => count)).toEqual([461]);
  clusters.update(buffer, 5);
  expect(clusters.clusters).toEqual([]);
  expect(drawnCount(buffer)).toBe(501);
});

test("dimmed dots don't count and are hidden with the others, marked ones are always drawn", () => {
  const { table, buffer } = fleet([SYDNEY!, 600]);
  table.showOnly(Uint32Array.from({ length: 560 }, (_, row) => row));
  buffer.update(table, { kind: "shown" }, 0);
  buffer.mark(new Set([7]), table);
  const clusters = new DotClusters();
  clusters.update(buffer, 3);
  expect(clusters.clusters.map(({ count }) => count)).toEqual([559]);
  expect(drawnCount(buffer)).toBe(1);
  table.showOnly(Uint32Array.from({ length: 300 }, (_, row) => row));
  buffer.update(table, { kind: "shown" }, 0);
  clusters.update(buffer, 3);
  expect(drawnCount(buffer)).toBe(600);
});

test("every plain dot is drawn or counted, at any zoom", () => {
  const crowds = fc.array(
    fc.tuple(
      fc.tuple(fc.integer({ min: -90, max: 90 }), fc.integer({ min: -180, max: 180 })),
      fc.integer({ min: 1, max: 700 }),
    ),
    { minLength: 1, maxLength: 5 },
  );
  fc.assert(
    fc.property(
      crowds,
      fc.array(fc.double({ min: 0, max: 7, noNaN: true }), { minLength: 1, maxLength: 4 }),
      (some, zooms) => {
        const { buffer } = fleet(...some);
        const clusters = new DotClusters();
        for (const zoom of zooms) {
          clusters.update(buffer, zoom);
          const counted = clusters.clusters.reduce((sum, { count }) => sum + count, 0);
          expect(drawnCount(buffer) + counted).toBe(buffer.size);
          for (const { count } of clusters.clusters) expect(count).toBeGreaterThan(CLUSTER_DOTS_MAX);
        }
      },
    ),
    { numRuns: 40 },
  );
});

test("the hidden dots are uploaded, and a new device in an old row is drawn", () => {
  const { buffer } = fleet([SYDNEY!, 501]);
  buffer.takeStale();
  const clusters = new DotClusters();
  clusters.update(buffer, 4);
  expect(buffer.takeStale()).toEqual([{ start: 0, end: 501 }]);
  clusters.update(buffer, 4);
  expect(buffer.takeStale()).toEqual([]);
  buffer.update(fleet([OSLO!, 400]).table, { kind: "all" }, 0);
  expect(drawnCount(buffer)).toBe(400);
});

test("circles grow with their counts, and fit into their cells", () => {
  const radii = [501, 5000, 50_000, 2_000_000].map(clusterRadius);
  expect(radii.every((radius, index) => index === 0 || radius > radii[index - 1]!)).toBe(true);
  expect(Math.min(...radii)).toBeGreaterThan(19);
  expect(Math.max(...radii)).toBe(32);
});

function moveAway(table: DeviceTable, buffer: DotBuffer, count: number): void {
  const rows = Array.from({ length: count }, (_, row) => row);
  table.update(rows.map((row) => ({ device_id: String(row), latitude: 0, longitude: 0, timestamp: 2 })));
  buffer.update(table, { kind: "rows", rows }, 0);
}
