import { ok } from "../../../src/lib/result.ts";
import type { Metropolis } from "../fleets/metropolis.ts";
import { openHttpClient } from "../servers/http-client.ts";
import { getRequest, measureLoad, postRequest } from "../servers/load.ts";
import { startWherehouse, type WherehouseProcess } from "../servers/server.ts";
import {
  type Contender,
  devicesOf,
  type OpenWriter,
  PAGE,
  RADIUS_MILES,
  type Returns,
  type StartPeer,
} from "./contender.ts";
import { openHttpWriter } from "./writes/http-writer.ts";

const BATCH = 1000;
const EVERY_AGE_HOURS = 8 * 24; // A day more than the metropolis has.

interface NearbyBody {
  readonly results: readonly { readonly device_id: string }[];
}

/** Our server, with the specified query, without the limit on ages, and with positions or ids alone. */
export const startOurs: StartPeer = async ({ metropolis, connections }) => {
  const server = await startWherehouse();
  try {
    await load(server, metropolis, connections);
  } catch (error) {
    await server.stop();
    throw error;
  }
  const headers = { authorization: `Bearer ${server.key}` };

  function contender(ages: Returns["ages"], each: Returns["each"]): Contender {
    const hours = ages === "24 h" ? 24 : EVERY_AGE_HOURS;
    const bounds = `radius_miles=${RADIUS_MILES}&max_age_hours=${hours}&limit=${PAGE}${FIELDS[each]}`;
    return {
      name: ourName(ages, each),
      pid: server.pid,
      returns: { each, total: true, ages, ties: true },
      async connect() {
        const client = await openHttpClient(server.url);
        return {
          ask({ latitude, longitude }) {
            const center = `latitude=${latitude}&longitude=${longitude}`;
            return client.ask(getRequest(`${server.url}/api/v1/devices/nearby?${center}&${bounds}`, headers));
          },
          close: async () => client.close(),
        };
      },
      readDevices(answer) {
        const body = JSON.parse((answer as Buffer).toString()) as NearbyBody;
        return body.results.map(({ device_id }) => device_id);
      },
    };
  }

  return ok({
    contenders: [
      ...[contender("24 h", "record"), contender("all", "record"), contender("all", "position")],
      ...[contender("24 h", "id"), contender("all", "id")],
    ],
    address: { peer: "wherehouse", port: Number(new URL(server.url).port), key: server.key },
    stop: server.stop,
  });
};

/** The parameter that chooses what comes with each device. */
const FIELDS: Readonly<Record<Returns["each"], string>> = {
  record: "",
  position: "&fields=latitude,longitude",
  id: "&fields=device_id",
};

const OURS = "wherehouse";

function ourName(ages: Returns["ages"], each: Returns["each"]): string {
  return `${OURS}${each === "record" ? "" : ` of ${each}s`}${ages === "all" ? ", all ages" : ""}`;
}

export function isOurs({ name }: Contender): boolean {
  return name.startsWith(OURS);
}

async function load(server: WherehouseProcess, metropolis: Metropolis, connections: number): Promise<void> {
  const headers = { authorization: `Bearer ${server.key}`, "content-type": "application/json" };
  const batches = devicesOf(metropolis, BATCH);
  await measureLoad({
    url: server.url,
    connections,
    next() {
      const batch = batches.next();
      if (batch.done) return null;
      const locations = batch.value.map(metropolis.report);
      const body = new TextEncoder().encode(JSON.stringify({ locations }));
      return postRequest(`${server.url}/ingest/v1/locations`, headers, body);
    },
  });
}

export const openOurWriter: OpenWriter = ({ port, key }) =>
  openHttpWriter(`http://127.0.0.1:${port}/ingest/v1/locations`, { authorization: `Bearer ${key}` });
