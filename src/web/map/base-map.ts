/** What the map lies on, as `/map/base.json` says: the world, and streets where the operator has them. */
export interface BaseMap {
  readonly world: TileMap;
  readonly streets: TileMap | null;
}

export interface TileMap {
  /** A path with `{z}`, `{x}` and `{y}`. */
  readonly tiles: string;
  readonly minzoom: number;
  readonly maxzoom: number;
  readonly bounds: readonly [west: number, south: number, east: number, north: number];
  /** Whom to credit, as text. */
  readonly attribution: string;
}
