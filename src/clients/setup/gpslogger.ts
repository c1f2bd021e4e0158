import { addressOf } from "./address.ts";
import type { Setup, SetupRequest } from "./setup.ts";

export function gpsloggerSetup(request: SetupRequest): Setup {
  return {
    app: "GPSLogger",
    place: "Logging details > Log to custom URL",
    fields: [
      { name: "URL", value: `${addressOf(request, "gpslogger")}?%ALL` },
      { name: "HTTP Headers", value: `Authorization: Bearer ${request.key}` },
      { name: "HTTP Method", value: "GET" },
      { name: "HTTP Body", value: "empty" },
      { name: "Discard offline locations", value: "off" },
      { name: "Allow auto sending", value: "off" },
    ],
    paste: null,
    link: null,
    isOneDevice: true,
    notes: ["It gives a point up after four tries: keep its log files where none may be missing."],
  };
}
