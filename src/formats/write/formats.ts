import { createCsvWriter } from "./csv.ts";
import { createGeoJsonSeqWriter, createGeoJsonWriter } from "./geojson.ts";
import { createGpxWriter } from "./gpx.ts";
import { createNdjsonWriter } from "./json-members.ts";
import { createKmlWriter, createKmzWriter } from "./kml.ts";
import { createOwnTracksWriter } from "./owntracks.ts";
import type { NameOf, RecordWriter, WriteFormat, WriteOptions } from "./record-writer.ts";
import { staged } from "./stages.ts";

/** All text formats of exports. */
export const WRITE_FORMATS: readonly WriteFormat[] = [
  {
    name: "ndjson",
    title: "NDJSON, a report a line",
    extension: ".ndjson",
    mediaType: "application/x-ndjson",
    order: "time",
    marksSimplified: false,
    showsNames: false,
    create: withStages(createNdjsonWriter),
  },
  {
    name: "csv",
    title: "CSV",
    extension: ".csv",
    mediaType: "text/csv; charset=utf-8",
    order: "time",
    marksSimplified: false,
    showsNames: false,
    create: withStages(createCsvWriter),
  },
  {
    name: "geojson",
    title: "GeoJSON",
    extension: ".geojson",
    mediaType: "application/geo+json",
    order: "time",
    marksSimplified: true,
    showsNames: false,
    create: withStages(createGeoJsonWriter),
  },
  {
    name: "geojsonseq",
    title: "newline-delimited GeoJSON",
    extension: ".geojsonl",
    mediaType: "application/geo+json-seq",
    order: "time",
    marksSimplified: false,
    showsNames: false,
    create: withStages(createGeoJsonSeqWriter),
  },
  {
    name: "gpx",
    title: "GPX 1.1",
    extension: ".gpx",
    mediaType: "application/gpx+xml",
    order: "device",
    marksSimplified: true,
    showsNames: true,
    create: withStages(createGpxWriter),
  },
  {
    name: "kml",
    title: "KML with gx:Track",
    extension: ".kml",
    mediaType: "application/vnd.google-earth.kml+xml",
    order: "device",
    marksSimplified: true,
    showsNames: true,
    create: withStages(createKmlWriter),
  },
  {
    name: "kmz",
    title: "KML, zipped",
    extension: ".kmz",
    mediaType: "application/vnd.google-earth.kmz",
    order: "device",
    marksSimplified: true,
    showsNames: true,
    create: withStages(createKmzWriter),
  },
  {
    name: "owntracks",
    title: "OwnTracks Recorder",
    extension: ".json",
    mediaType: "application/json",
    order: "time",
    marksSimplified: true,
    showsNames: false,
    create: withStages(createOwnTracksWriter),
  },
];

function withStages(create: (options: WriteOptions, nameOf: NameOf) => RecordWriter): WriteFormat["create"] {
  return (options, nameOf = noName) => staged(create(options, options.redact ? noName : nameOf), options);
}

function noName(): null {
  return null;
}
