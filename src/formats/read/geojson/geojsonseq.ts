import { isMembers } from "../../../clients/reading/values.ts";
import { parseJson } from "../../../lib/text/long-json.ts";
import type { Format } from "../format.ts";
import { readRecords } from "../json/read-records.ts";
import { readFeature } from "./feature.ts";
import { featureContext } from "./feature-reader.ts";

/** Features one after the other: a line each, or between record separators (RFC 8142). */
export const geojsonseq: Format = {
  name: "geojsonseq",
  title: "GeoJSONSeq",
  extensions: [".geojsonseq", ".geojsons", ".geojsonl", ".ndgeojson", ".ndjson", ".jsonl"],
  placeUnit: "record",
  recognise({ text }) {
    if (/^\x1e\s*\{/.test(text)) return "it begins with a record separator";
    const end = text.indexOf("\n");
    const first = end < 0 ? undefined : parseJson(text.slice(0, end));
    return isMembers(first) && first.type === "Feature" ? "its first line is a Feature" : null;
  },
  read(content, sink, options) {
    const context = featureContext(sink, options);
    return readRecords(content, sink, (feature) => readFeature(feature, context));
  },
};
