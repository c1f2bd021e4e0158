import type { Client } from "./client.ts";
import { owntracks } from "./owntracks/owntracks.ts";

/** All that we understand. */
export const CLIENTS: readonly Client[] = [owntracks];
