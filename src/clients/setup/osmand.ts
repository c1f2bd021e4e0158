import { deviceAddressOf } from "./address.ts";
import type { Setup, SetupRequest } from "./setup.ts";

/** Its placeholders by number. What it calls hdop is the accuracy in meters. */
const PARAMETERS = "lat={0}&lon={1}&timestamp={2}&hdop={3}&altitude={4}&speed={5}&bearing={6}";

export function osmandSetup(request: SetupRequest): Setup {
  return {
    app: "OsmAnd",
    place: "Plugins > Trip recording > Settings > Online tracking",
    fields: [{ name: "Web address", value: `${deviceAddressOf(request, "osmand")}?${PARAMETERS}` }],
    paste: null,
    link: null,
    isOneDevice: true,
    notes: [
      'Set its "Time buffer" as long as the phone may be without a network: older points are dropped.',
      "Unsent points are kept in memory alone, so they go when the app does.",
    ],
  };
}
