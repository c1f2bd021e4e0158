import type { Client } from "./client.ts";
import { colota } from "./colota.ts";
import type { Content } from "./content.ts";
import { gpslogger } from "./gpslogger.ts";
import { homeassistant } from "./homeassistant.ts";
import { opengts } from "./opengts.ts";
import { osmand } from "./osmand.ts";
import { overland } from "./overland.ts";
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

/**
 * Whose message it is that came on a client's path: who reads it, and whose answer is waited for. The path decides, for
 * the units of a dialect depend on it, unless the body has a shape that only another client's messages have.
 */
export function readerOf(pathClient: Client, content: Content): Client {
  if (content.kind !== "json" || pathClient.speaks(content.value)) return pathClient;
  return CLIENTS.find((client) => client.recognizes(content.value)) ?? pathClient;
}
