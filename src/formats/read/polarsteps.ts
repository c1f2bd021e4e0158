import { readNumberOrNaN } from "../../clients/reading/values.ts";
import type { Format } from "./format.ts";
import { firstThings, readObjects } from "./json/read-json.ts";
import { createFileTimes } from "./time/file-times.ts";

/** The positions of a Polarsteps trip: `{"locations":[{"lat":…,"lon":…,"time":…}…]}`. */
export const polarsteps: Format = {
  name: "polarsteps",
  title: "Polarsteps locations",
  extensions: [".json"],
  placeUnit: "byte",
  recognise(beginning) {
    const isTrip = firstThings(beginning, "locations").some(
      ({ lat, lon, time, _type }) => ![lat, lon, time].includes(undefined) && _type === undefined,
    );
    return isTrip ? 'its "locations" have "lat", "lon" and "time"' : null;
  },
  read(content, sink, options) {
    const times = createFileTimes(options.zone, sink);
    return readObjects(content, sink, { lists: ["locations"] }, ({ lat, lon, time }) =>
      sink.add({
        timestampMs: times.readMs(time),
        latitude: readNumberOrNaN(lat),
        longitude: readNumberOrNaN(lon),
        device: null,
        user: null,
        details: {},
      }),
    );
  },
};
