import { isJsonObject } from "../../../clients/reading/values.ts";
import { parseJson } from "../../../lib/text/long-json.ts";
import type { PointSink } from "../file-point.ts";
import type { Format, ReadOptions } from "../format.ts";
import type { JsonSelection } from "../json/json-cutter.ts";
import { type CutReader, readCuts, readRecords } from "../json/read-json.ts";
import { createFileTimes } from "../time/file-times.ts";
import { type FeatureContext, readFeature } from "./feature.ts";

/** RFC 7946: a FeatureCollection, a list of Features, or a single one. */
export const geojson: Format = {
  name: "geojson",
  title: "GeoJSON",
  extensions: [".geojson", ".json"],
  placeUnit: "byte",
  // Searches the text: a Feature may be longer than the beginning.
  recognise({ text }) {
    if (!/^[{[]/.test(text)) return null;
    const type = /"type"\s*:\s*"(FeatureCollection|Feature)"/.exec(text)?.[1];
    return type === undefined ? null : `it has a "type" of "${type}"`;
  },
  read(content, sink, options) {
    const selection = { lists: ["features"], members: ["type", "geometry", "properties"], isList: true };
    return readCuts(content, sink, featureReader(featureContext(sink, options), selection));
  },
};

/** A sequence of Features: one per line, or between record separators (RFC 8142). */
export const geojsonseq: Format = {
  name: "geojsonseq",
  title: "GeoJSONSeq",
  extensions: [".geojsonseq", ".geojsons", ".geojsonl", ".ndgeojson", ".ndjson", ".jsonl"],
  placeUnit: "record",
  recognise({ text }) {
    if (/^\x1e\s*\{/.test(text)) return "it begins with a record separator";
    const end = text.indexOf("\n");
    const first = end < 0 ? undefined : parseJson(text.slice(0, end));
    return isJsonObject(first) && first.type === "Feature" ? "its first line is a Feature" : null;
  },
  read(content, sink, options) {
    const context = featureContext(sink, options);
    return readRecords(content, sink, (feature) => readFeature(feature, context));
  },
};

export function featureContext(
  sink: PointSink,
  { zone, speedUnit }: ReadOptions,
  isOverland = false,
): FeatureContext {
  return {
    sink,
    times: createFileTimes(zone, sink),
    dialect: { speedUnit, isOverland },
    device: null,
  };
}

/** Reads Features in lists, and a Feature that is the whole text, whose members are cut out one by one. */
export function featureReader(context: FeatureContext, selection: JsonSelection): CutReader {
  const alone: Record<string, unknown> = {};
  return {
    selection,
    *read({ member, value }) {
      if (member !== null && selection.members?.includes(member)) alone[member] = value;
      else if (isJsonObject(value)) yield* readFeature(value, context);
      else context.sink.skip("unreadable");
    },
    *end() {
      if (alone.type === "Feature") yield* readFeature(alone, context);
    },
  };
}
