import type { Format } from "../format.ts";
import { readCuts } from "../json/read-cuts.ts";
import { featureContext, featureReader } from "./feature-reader.ts";

/** RFC 7946: a FeatureCollection, a list of Features, or one alone. */
export const geojson: Format = {
  name: "geojson",
  title: "GeoJSON",
  extensions: [".geojson", ".json"],
  placeUnit: "byte",
  // By the text: a Feature may be too long to end within the beginning.
  recognise({ text }) {
    if (!/^[{[]/.test(text)) return null;
    const type = /"type"\s*:\s*"(FeatureCollection|Feature)"/.exec(text)?.[1];
    return type === undefined ? null : `it has a "type" of "${type}"`;
  },
  read(content, sink, options) {
    const wanted = { lists: ["features"], members: ["type", "geometry", "properties"], isList: true };
    return readCuts(content, sink, featureReader(featureContext(sink, options), wanted));
  },
};
