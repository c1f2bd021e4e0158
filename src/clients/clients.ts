import type { Client } from "./client.ts";
import { osmand } from "./osmand.ts";
import { overland } from "./overland/overland.ts";
import { owntracks } from "./owntracks/owntracks.ts";
import { traccar } from "./traccar/traccar.ts";

/** All that we understand. */
export const CLIENTS: readonly Client[] = [owntracks, overland, traccar, osmand];
