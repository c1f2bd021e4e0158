import { PbfWriter } from "pbf";

/**
 * Writes a layer of a Mapbox Vector Tile (version 2.1) feature by feature, so that others may have their turn in
 * between: `@maplibre/vt-pbf`, which writes a tile in one piece, held the event loop for 20 ms for 5,000 features.
 */

/** Units to a side of a tile, whatever its size in pixels. */
export const EXTENT = 4096;

/** A property that features may have. Every value of one is written as the same type. */
export interface Property {
  readonly name: string;
  readonly type: keyof typeof WRITE_VALUE;
}

/** Tags of protobuf's messages. */
const TILE = { layer: 3 } as const;
const LAYER = { name: 1, feature: 2, key: 3, value: 4, extent: 5, version: 15 } as const;
const FEATURE = { tags: 2, type: 3, geometry: 4 } as const;
const GEOMETRY_TYPE = { point: 1, polygon: 3 } as const;

const encoder = new TextEncoder();

const WRITE_VALUE = {
  /** The library's own encoder writes U+20000 and what lies beyond as other characters. */
  text: (value: unknown, pbf: PbfWriter) => pbf.writeBytesField(1, encoder.encode(value as string)),
  number: (value: unknown, pbf: PbfWriter) => pbf.writeDoubleField(3, value as number),
  /** From 0. */
  count: (value: unknown, pbf: PbfWriter) => pbf.writeVarintField(5, value as number),
} as const;

/** Of a path: a command and how often, then as many steps. */
const MOVE_ONCE = (1 << 3) | 1;
const LINE_THRICE = (3 << 3) | 2;
const CLOSE = (1 << 3) | 7;

export class LayerWriter {
  readonly #layer = new PbfWriter();
  readonly #properties: readonly Property[];
  /** Numbers of values, by property; all values of a layer are numbered together. */
  readonly #numbers: readonly Map<unknown, number>[];
  readonly #values: { readonly property: Property; readonly value: unknown }[] = [];

  constructor(name: string, properties: readonly Property[]) {
    this.#properties = properties;
    this.#numbers = properties.map(() => new Map());
    this.#layer.writeVarintField(LAYER.version, 2);
    this.#layer.writeStringField(LAYER.name, name);
    this.#layer.writeVarintField(LAYER.extent, EXTENT);
    for (const { name: key } of properties) this.#layer.writeStringField(LAYER.key, key);
  }

  /** Values in the order of the properties; what the feature lacks is null. */
  addPoint(x: number, y: number, values: readonly (string | number | null)[]): void {
    this.#addFeature(GEOMETRY_TYPE.point, [MOVE_ONCE, zigzag(x), zigzag(y)], values);
  }

  /** The square from a corner, to the right and down. */
  addSquare(x: number, y: number, side: number, values: readonly (string | number | null)[]): void {
    const start = [MOVE_ONCE, zigzag(x), zigzag(y)];
    const lines = [LINE_THRICE, zigzag(side), 0, 0, zigzag(side), zigzag(-side), 0]; // Clockwise: its outside.
    this.#addFeature(GEOMETRY_TYPE.polygon, [...start, ...lines, CLOSE], values);
  }

  /** The tile with this layer. */
  finish(): Uint8Array<ArrayBuffer> {
    const layer = this.#layer;
    for (const { property, value } of this.#values)
      layer.writeMessage(LAYER.value, WRITE_VALUE[property.type], value);
    const tile = new PbfWriter();
    tile.writeBytesField(TILE.layer, layer.finish());
    return new Uint8Array(tile.finish());
  }

  #addFeature(type: number, geometry: number[], values: readonly (string | number | null)[]): void {
    const tags: number[] = [];
    values.forEach((value, key) => {
      if (value !== null) tags.push(key, this.#numberOf(key, value));
    });
    const write = (_: null, pbf: PbfWriter) => {
      pbf.writePackedVarint(FEATURE.tags, tags);
      pbf.writeVarintField(FEATURE.type, type);
      pbf.writePackedVarint(FEATURE.geometry, geometry);
    };
    this.#layer.writeMessage(LAYER.feature, write, null);
  }

  #numberOf(key: number, value: string | number): number {
    const numbers = this.#numbers[key]!;
    const known = numbers.get(value);
    if (known !== undefined) return known;
    const number = this.#values.push({ property: this.#properties[key]!, value }) - 1;
    numbers.set(value, number);
    return number;
  }
}

/** Whole numbers of either sign as ones from 0, small ones small. */
function zigzag(value: number): number {
  return (value << 1) ^ (value >> 31);
}
