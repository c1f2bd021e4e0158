import { csv } from "./csv/csv.ts";
import { fit } from "./fit/fit.ts";
import type { Format } from "./format.ts";
import { geojson } from "./geojson/geojson.ts";
import { geojsonseq } from "./geojson/geojsonseq.ts";
import { overlandFile } from "./geojson/overland.ts";
import { googleRecords } from "./google/records.ts";
import { googleSemantic } from "./google/semantic.ts";
import { googleTimeline, googleTimelineIos } from "./google/timeline.ts";
import { googleTimelineEdits } from "./google/timeline-edits.ts";
import { gpx } from "./gpx/gpx.ts";
import { kml } from "./kml/kml.ts";
import { nmea } from "./nmea/nmea.ts";
import { dawarichData, dawarichLines } from "./others/dawarich.ts";
import { polarsteps } from "./others/polarsteps.ts";
import { traccarPositions } from "./others/traccar-positions.ts";
import { ownTracksMessages } from "./owntracks/messages.ts";
import { ownTracksRecorder } from "./owntracks/recorder.ts";
import { parquet } from "./parquet/parquet.ts";
import { jsonTable } from "./table/json-table.ts";
import { tcx } from "./tcx/tcx.ts";

/** Every format of others, those first that are recognised most surely. */
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
