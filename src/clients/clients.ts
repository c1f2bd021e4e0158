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
 * The client whose dialect a message on another client's path has. It reads the message and its answer is sent. The
 * path decides, because units depend on it, unless only another client's messages have the body's shape.
 */
export function readerOf(pathClient: Client, content: Content): Client {
  if (content.kind !== "json" || pathClient.speaks(content.value)) return pathClient;
  return CLIENTS.find((client) => client.recognizes(content.value)) ?? pathClient;
}
