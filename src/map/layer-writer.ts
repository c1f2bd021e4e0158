import { PbfWriter } from "pbf";

/**
 * Writes a layer of a Mapbox Vector Tile (version 2.1) feature by feature, so that the caller can yield in between:
 * `@maplibre/vt-pbf`, which writes a whole tile at a time, blocked the event loop for 20 ms with 5,000 features.
 */

/** The width of a tile in units, whatever its size in pixels. */
export const EXTENT = 4096;

/** A property that features may have. All its values have the same type. */
export interface Property {
  readonly name: string;
  readonly type: keyof typeof WRITE_VALUE;
}

/** Field numbers of the protobuf messages. */
const TILE = { layer: 3 } as const;
const LAYER = { name: 1, feature: 2, key: 3, value: 4, extent: 5, version: 15 } as const;
const FEATURE = { tags: 2, type: 3, geometry: 4 } as const;
const GEOMETRY_TYPE = { point: 1, polygon: 3 } as const;

const encoder = new TextEncoder();

const WRITE_VALUE = {
  /** The library's own encoder writes U+20000 and what lies beyond as other characters. */
  text: (value: unknown, pbf: PbfWriter) => pbf.writeBytesField(1, encoder.encode(value as string)),
  number: (value: unknown, pbf: PbfWriter) => pbf.writeDoubleField(3, value as number),
  /** A non-negative integer. */
  count: (value: unknown, pbf: PbfWriter) => pbf.writeVarintField(5, value as number),
} as const;

/** Commands of a path: the command in the low three bits, its repeat count above them. The steps follow. */
const MOVE_ONCE = (1 << 3) | 1;
const LINE_THRICE = (3 << 3) | 2;
const CLOSE = (1 << 3) | 7;

export class LayerWriter {
  readonly #layer = new PbfWriter();
  readonly #properties: readonly Property[];
  /** The numbers of values, by property. All values of a layer share one sequence of numbers. */
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

  /** Values are in the order of the properties; null omits one. */
  addPoint(x: number, y: number, values: readonly (string | number | null)[]): void {
    this.#addFeature(GEOMETRY_TYPE.point, [MOVE_ONCE, zigzag(x), zigzag(y)], values);
  }

  /** Adds the square to the right of and below a corner. */
  addSquare(x: number, y: number, side: number, values: readonly (string | number | null)[]): void {
    const start = [MOVE_ONCE, zigzag(x), zigzag(y)];
    const lines = [LINE_THRICE, zigzag(side), 0, 0, zigzag(side), zigzag(-side), 0]; // Clockwise: its outside.
    this.#addFeature(GEOMETRY_TYPE.polygon, [...start, ...lines, CLOSE], values);
  }

  /** Returns a tile with this layer. */
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

/** Maps signed integers to unsigned ones, so that small absolute values stay small. */
function zigzag(value: number): number {
  return (value << 1) ^ (value >> 31);
}
