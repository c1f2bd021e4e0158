import { type CrowdedCells, DOT_LEVELS, DOT_WORDS, type DotBuffer, levelIn } from "./dot-buffer.ts";

/*
 * Far out, a circle with a count stands for many dots that overlap. The world is divided into square cells of 64 pixels
 * at a whole zoom, so that a circle stays the same while the map moves.
 */

/** From this zoom on every dot is drawn. */
export const CLUSTER_ZOOM_END = 6;

/** A cell with more dots is a cluster. */
export const CLUSTER_DOTS_MAX = 500;

/** A cluster remains one down to this count, so that devices at its edge don't make it come and go. */
const CLUSTER_DOTS_MIN = 450;

/** The world has 8 cells of 64 pixels in a row at zoom 0. */
const COLUMNS_LOG2 = 3;
const PIXELS_LOG2 = 9;

/** A crowd may lie across the edge of two cells: circles nearer than this become one. */
const MERGE_PIXELS = 44;

/** The dots of a crowded cell. */
export interface Cluster {
  /** The mean of their positions, in units of `world.ts`. */
  readonly x: number;
  readonly y: number;
  readonly count: number;
}

export class DotClusters {
  #clusters: readonly Cluster[] = [];
  #cells: CrowdedCells | null = null;
  #counts = new Uint32Array(0);
  #sumsX = new Float64Array(0);
  #sumsY = new Float64Array(0);

  get clusters(): readonly Cluster[] {
    return this.#clusters;
  }

  /** Finds the clusters at a zoom, and hides their dots. */
  update(buffer: DotBuffer, zoom: number): void {
    const hadClusters = this.#clusters.length > 0;
    if (zoom >= CLUSTER_ZOOM_END || buffer.size <= CLUSTER_DOTS_MIN) {
      this.#clusters = [];
      this.#cells = null;
    } else this.#find(buffer, Math.max(0, Math.floor(zoom)));
    if (hadClusters || this.#clusters.length > 0) buffer.hide(this.#cells);
  }

  #find(buffer: DotBuffer, zoom: number): void {
    const columns = 2 ** (COLUMNS_LOG2 + zoom);
    const shift = 32 - COLUMNS_LOG2 - zoom;
    const before = this.#cells?.shift === shift ? this.#cells.isCrowded : null;
    this.#count(buffer, columns, shift);
    const isCrowded = new Uint8Array(columns * columns);
    const clusters: Cluster[] = [];
    for (let cell = 0; cell < isCrowded.length; cell++) {
      const count = this.#counts[cell]!;
      if (count <= (before?.[cell] === 1 ? CLUSTER_DOTS_MIN : CLUSTER_DOTS_MAX)) continue;
      isCrowded[cell] = 1;
      clusters.push({ x: this.#sumsX[cell]! / count, y: this.#sumsY[cell]! / count, count });
    }
    this.#clusters = merged(clusters, MERGE_PIXELS * 2 ** (32 - PIXELS_LOG2 - zoom));
    this.#cells = { shift, columns, isCrowded };
  }

  /** Counts the dots of each cell that are neither dimmed nor marked: marked ones are always drawn. */
  #count({ words, size }: DotBuffer, columns: number, shift: number): void {
    if (this.#counts.length < columns * columns) {
      this.#counts = new Uint32Array(columns * columns);
      this.#sumsX = new Float64Array(columns * columns);
      this.#sumsY = new Float64Array(columns * columns);
    }
    const [counts, sumsX, sumsY] = [this.#counts, this.#sumsX, this.#sumsY];
    counts.fill(0);
    sumsX.fill(0);
    sumsY.fill(0);
    for (let at = 0; at < size * DOT_WORDS; at += DOT_WORDS) {
      if (levelIn(words[at + 6]!) !== DOT_LEVELS.plain) continue;
      const x = words[at + 2]!;
      const y = words[at + 3]!;
      const cell = (y >>> shift) * columns + (x >>> shift);
      counts[cell]!++;
      sumsX[cell]! += x;
      sumsY[cell]! += y;
    }
  }
}

/** Joins each cluster to the first one that is nearer than `reach` to it. */
function merged(clusters: readonly Cluster[], reach: number): Cluster[] {
  const joined: Cluster[] = [];
  for (const cluster of clusters) {
    const { x, y, count } = cluster;
    const isNear = (other: Cluster) => Math.hypot((other.x - x) | 0, other.y - y) < reach;
    const index = joined.findIndex(isNear);
    const other = joined[index];
    if (other === undefined) {
      joined.push(cluster);
      continue;
    }
    const sum = other.count + count;
    joined[index] = {
      x: (other.x - (((other.x - x) | 0) * count) / sum + 2 ** 32) % 2 ** 32,
      y: (other.y * other.count + y * count) / sum,
      count: sum,
    };
  }
  return joined;
}

/** Half the width of a cluster's circle, in pixels. */
export function clusterRadius(count: number): number {
  return Math.min(32, 16 + 5 * Math.log10(count / 100));
}
