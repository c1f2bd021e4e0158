import { type JsonObject, readNumberOrNaN, readText } from "../../clients/reading/values.ts";
import { readPositionDetails } from "../../clients/traccar/traccar-forward.ts";
import type { Format } from "./format.ts";
import { firstThings, haveAny, readObjects } from "./json/read-json.ts";
import { createFileTimes } from "./time/file-times.ts";

/** The answer of `/api/positions` of a Traccar server: a list of positions with speeds in knots. */
export const traccarPositions: Format = {
  name: "traccar-json",
  title: "Traccar positions",
  extensions: [".json"],
  placeUnit: "byte",
  recognise(beginning) {
    const isTraccar = haveAny(firstThings(beginning, null), ["fixTime"]);
    return isTraccar ? 'it is a list of positions with a "fixTime"' : null;
  },
  read(content, sink, options) {
    const times = createFileTimes(options.zone, sink);
    const speedUnit = options.speedUnit ?? "kn";
    const read = (position: JsonObject) => {
      // Without a fix the server repeats the last known position.
      if (position.valid === false) return sink.skip("no_fix");
      sink.add({
        timestampMs: times.readMs(position.fixTime),
        latitude: readNumberOrNaN(position.latitude),
        longitude: readNumberOrNaN(position.longitude),
        device: readText(position.deviceId),
        user: null,
        details: readPositionDetails(position, speedUnit),
      });
    };
    return readObjects(content, sink, { isList: true }, read);
  },
};
