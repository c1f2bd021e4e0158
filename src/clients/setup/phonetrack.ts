import { deviceAddressOf } from "./address.ts";
import type { Setup, SetupRequest } from "./setup.ts";

export function phonetrackSetup(request: SetupRequest): Setup {
  return {
    app: "an app that reports to PhoneTrack",
    place: "where it asks for the address of a session",
    fields: [
      { name: "URL", value: deviceAddressOf(request, "phonetrack") },
      { name: "Parameters", value: "lat, lon, timestamp, alt, acc, bat, speed, bearing; by GET or POST" },
    ],
    paste: null,
    link: null,
    isOneDevice: true,
    notes: ["speed is in meters per second, timestamp in seconds."],
  };
}
