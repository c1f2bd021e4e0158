import { CLIENT_NAMES, type ClientName } from "../client.ts";
import { colotaSetup } from "./colota.ts";
import { curlSetup } from "./curl.ts";
import { gpsloggerSetup } from "./gpslogger.ts";
import { homeassistantSetup } from "./homeassistant.ts";
import { opengtsSetup } from "./opengts.ts";
import { osmandSetup } from "./osmand.ts";
import { overlandSetup } from "./overland.ts";
import { owntracksSetup } from "./owntracks.ts";
import { phonetrackSetup } from "./phonetrack.ts";
import type { Setup, SetupRequest } from "./setup.ts";
import { traccarSetup } from "./traccar.ts";
import { traccarForwardSetup } from "./traccar-forward.ts";

/** What can be set up: the clients, and by hand. */
export type SetupName = ClientName | "curl";

export const SETUP_NAMES: readonly SetupName[] = [...CLIENT_NAMES, "curl"];

/** How each is set up. */
export const SETUPS: Readonly<Record<SetupName, (request: SetupRequest) => Setup>> = {
  owntracks: owntracksSetup,
  overland: overlandSetup,
  traccar: traccarSetup,
  osmand: osmandSetup,
  gpslogger: gpsloggerSetup,
  opengts: opengtsSetup,
  colota: colotaSetup,
  homeassistant: homeassistantSetup,
  phonetrack: phonetrackSetup,
  "traccar-forward": traccarForwardSetup,
  curl: curlSetup,
};
