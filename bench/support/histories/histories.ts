import { googleRecordsHistory } from "./google-records.ts";
import { gpxHistory } from "./gpx.ts";
import type { History } from "./history.ts";

/** The histories of the import bench. */
export const HISTORIES: readonly History[] = [googleRecordsHistory, gpxHistory];

export function findHistory(format: string): History {
  return HISTORIES.find((history) => history.format === format)!;
}
