import { readText } from "../../../clients/reading/values.ts";
import { type Content, type Format, FormatError } from "../format.ts";
import { JsonCutter } from "../json/json-cutter.ts";
import { firstThings, readCuts } from "../json/read-json.ts";
import { featureContext, featureReader } from "./geojson.ts";

/** Saved batches of Overland and compatible apps: `{"locations":[Feature…], "device_id"?}`. */
export const overlandFile: Format = {
  name: "overland",
  title: "Overland batch",
  extensions: [".json"],
  placeUnit: "byte",
  recognise(beginning) {
    const isBatch = firstThings(beginning, "locations").some(({ type }) => type === "Feature");
    return isBatch ? 'its "locations" are Features' : null;
  },
  read(content, sink, options) {
    const context = featureContext(sink, options, true);
    return readCuts(content, sink, {
      ...featureReader(context, { lists: ["locations"] }),
      // The device may be named after all its positions.
      async prepare() {
        context.device = await findDevice(content);
      },
    });
  },
};

/** The `device_id` beside the list; null if there is none before a fault. */
async function findDevice(content: Content): Promise<string | null> {
  const cutter = new JsonCutter({ members: ["device_id"] });
  try {
    for await (const piece of content.pieces()) {
      cutter.push(piece);
      const cut = cutter.next();
      if (cut !== null) return readText(cut.value);
    }
  } catch (error) {
    if (!(error instanceof FormatError)) throw error; // The reader of the points reports it.
  }
  return null;
}
