import { dawarichData, dawarichLines } from "./dawarich.ts";
import { fit } from "./fit.ts";
import type { Format } from "./format.ts";
import { geojson, geojsonseq } from "./geojson/geojson.ts";
import { overlandFile } from "./geojson/overland.ts";
import { googleRecords } from "./google/records.ts";
import { googleSemantic } from "./google/semantic.ts";
import { googleTimeline, googleTimelineIos } from "./google/timeline.ts";
import { googleTimelineEdits } from "./google/timeline-edits.ts";
import { nmea } from "./nmea.ts";
import { ownTracksMessages, ownTracksRecorder } from "./owntracks.ts";
import { polarsteps } from "./polarsteps.ts";
import { csv } from "./table/csv.ts";
import { jsonTable } from "./table/json-table.ts";
import { parquet } from "./table/parquet.ts";
import { traccarPositions } from "./traccar-positions.ts";
import { gpx } from "./xml/gpx.ts";
import { kml } from "./xml/kml.ts";
import { tcx } from "./xml/tcx.ts";

/** All formats of other programs, the most distinctive first. */
export const FORMATS: readonly Format[] = [
  fit,
  parquet,
  gpx,
  kml,
  tcx,
  googleRecords,
  googleSemantic,
  googleTimeline,
  googleTimelineIos,
  googleTimelineEdits,
  ownTracksMessages,
  overlandFile,
  traccarPositions,
  polarsteps,
  dawarichLines,
  dawarichData,
  geojsonseq,
  geojson,
  ownTracksRecorder,
  nmea,
  jsonTable,
  csv,
];
