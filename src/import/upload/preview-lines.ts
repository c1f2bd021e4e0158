import { numberIndex } from "../../model/location-fields.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import { MS_PER_MINUTE } from "../../model/time/units.ts";

/** Positions to be joined by a line: longitude and latitude in degrees. */
export type PreviewLine = readonly (readonly [longitude: number, latitude: number])[];

/** The maximum number of positions in all lines of a preview. */
export const PREVIEW_POINTS_MAX = 400;

/** As in exports: a longer silence begins another line. */
const GAP_MS = 30 * MS_PER_MINUTE;

const LATITUDE = numberIndex("latitude");
const LONGITUDE = numberIndex("longitude");

interface Vertex {
  readonly longitude: number;
  readonly latitude: number;
  /** The index of its line in the file. */
  readonly line: number;
  /** The index of its point in the file. */
  readonly point: number;
}

/**
 * The way of a file's points, drawn with every n-th of them. Doubles n whenever there are too many, so that a file of
 * any length needs the same memory.
 */
export class PreviewLines {
  #vertices: Vertex[] = [];
  #step = 1;
  #points = 0;
  #line = -1;
  #last: Vertex | null = null;
  #deviceId = "";
  #timestampMs = Number.NEGATIVE_INFINITY;

  add({ count, texts, device, timestampMs, numbers }: ReportBatch): void {
    for (let row = 0; row < count; row++) {
      const deviceId = texts[device[row]!]!;
      const atMs = timestampMs[row]!;
      if (deviceId !== this.#deviceId || Math.abs(atMs - this.#timestampMs) > GAP_MS) this.#line++;
      this.#deviceId = deviceId;
      this.#timestampMs = atMs;
      const vertex = {
        longitude: numbers[LONGITUDE]![row]!,
        latitude: numbers[LATITUDE]![row]!,
        line: this.#line,
        point: this.#points++,
      };
      this.#last = vertex;
      if (vertex.point % this.#step !== 0) continue;
      this.#vertices.push(vertex);
      if (this.#vertices.length >= PREVIEW_POINTS_MAX) this.#coarsen();
    }
  }

  /** The lines so far; each has the points that were not thinned out, and the last one ends at the last point. */
  lines(): PreviewLine[] {
    const last = this.#last;
    const lines: [number, number][][] = [];
    let line = -1;
    const isDrawn = this.#vertices.at(-1)?.point === last?.point;
    for (const vertex of isDrawn || last === null ? this.#vertices : [...this.#vertices, last]) {
      if (vertex.line !== line) lines.push([]);
      line = vertex.line;
      lines.at(-1)!.push([vertex.longitude, vertex.latitude]);
    }
    return lines;
  }

  #coarsen(): void {
    this.#step *= 2;
    this.#vertices = this.#vertices.filter(({ point }) => point % this.#step === 0);
  }
}
