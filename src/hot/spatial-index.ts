import type { Box } from "../geo/box.ts";

/** Where the devices of one app are, by device number. Proposes candidates; the caller measures them. */
export interface SpatialIndex {
  /** Adds a device or moves it. Degrees. */
  set(device: number, latitude: number, longitude: number): void;
  /** Takes out a device that was added. */
  remove(device: number): void;
  /** Visits every device that may lie in one of the boxes, each once; returns how many it visited. */
  scan(boxes: readonly Box[], visit: (device: number, latitude: number, longitude: number) => void): number;
}
