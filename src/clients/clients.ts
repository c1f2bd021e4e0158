import type { Client } from "./client.ts";
import { colota } from "./colota.ts";
import { gpslogger } from "./gpslogger.ts";
import { homeassistant } from "./homeassistant.ts";
import { opengts } from "./opengts/opengts.ts";
import { osmand } from "./osmand.ts";
import { overland } from "./overland/overland.ts";
import { owntracks } from "./owntracks/owntracks.ts";
import { phonetrack } from "./phonetrack.ts";
import { traccar } from "./traccar/traccar.ts";
import { traccarForward } from "./traccar/traccar-forward.ts";

/** All that we understand. */
export const CLIENTS: readonly Client[] = [
  owntracks,
  overland,
  traccar,
  osmand,
  gpslogger,
  opengts,
  colota,
  homeassistant,
  phonetrack,
  traccarForward,
];
