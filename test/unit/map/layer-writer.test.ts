import { expect, test } from "bun:test";
import { VectorTile } from "@mapbox/vector-tile";
import { PbfReader } from "pbf";
import { EXTENT, LayerWriter } from "../../../src/map/layer-writer.ts";
import * as fc from "../../support/fast-check.ts";

const PROPERTIES = [
  { name: "id", type: "text" },
  { name: "speed", type: "number" },
  { name: "count", type: "count" },
] as const;

const unit = fc.integer({ min: -64, max: EXTENT + 64 });
const feature = fc.record({
  x: unit,
  y: unit,
  side: fc.constantFrom(0, 64, 1),
  id: fc.option(fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("__proto__", "1", ""))),
  speed: fc.option(fc.oneof(fc.double({ noNaN: true }), fc.nat(3)).map((speed) => speed + 0)),
  count: fc.option(fc.oneof(fc.nat(3), fc.maxSafeNat())),
});

test("LayerWriter writes what others read", () => {
  fc.assert(
    fc.property(fc.array(feature, { minLength: 1, maxLength: 40 }), (features) => {
      const writer = new LayerWriter("some", PROPERTIES);
      for (const { x, y, side, id, speed, count } of features) {
        if (side === 0) writer.addPoint(x, y, [id, speed, count]);
        else writer.addSquare(x, y, side, [id, speed, count]);
      }
      const { layers } = new VectorTile(new PbfReader(writer.finish()));
      expect(Object.keys(layers)).toEqual(["some"]);
      const layer = layers.some!;
      expect([layer.version, layer.extent, layer.length]).toEqual([2, EXTENT, features.length]);
      features.forEach(({ x, y, side, ...properties }, index) => {
        const read = layer.feature(index);
        const known = Object.entries(properties).filter(([, value]) => value !== null);
        expect(Object.entries(read.properties)).toEqual(known as [string, string | number][]);
        const corners = read.loadGeometry().map((ring) => ring.map((point) => [point.x, point.y]));
        const [right, bottom] = [x + side, y + side];
        const square = [[x, y], [right, y], [right, bottom], [x, bottom], [x, y]]; // biome-ignore format: a ring
        expect({ type: read.type, corners }).toEqual(
          side === 0 ? { type: 1, corners: [[[x, y]]] } : { type: 3, corners: [square] },
        );
      });
    }),
  );
});
