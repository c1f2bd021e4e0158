import { ok } from "../../../../src/lib/result.ts";
import { openHttpClient } from "../../servers/http-client.ts";
import { getRequest } from "../../servers/load.ts";
import { startProcess } from "../../servers/server.ts";
import {
  type Contender,
  devicesOf,
  type OpenWriter,
  PAGE,
  RADIUS_MILES,
  type StartPeer,
} from "../contender.ts";
import { openHttpWriter } from "../writes/http-writer.ts";

const BATCH = 1000;
/** Twice the time until an index has the written data. */
const SETTLE_MS = 2000;

export const GEOKDBUSH = "geokdbush, rebuilt every second";

/** A small server around a library. */
export const startGeokdbush: StartPeer = async ({ metropolis, oldestMs }) => {
  const server = await startProcess([process.execPath, "bench/support/peers/geokdbush/server.ts"]);
  const address = { peer: "geokdbush", port: Number(new URL(server.url).port) } as const;
  try {
    const writer = await openGeokdbushWriter(address);
    for (const batch of devicesOf(metropolis, BATCH)) await writer.write(batch.map(metropolis.report));
    await writer.close();
    await Bun.sleep(SETTLE_MS);
  } catch (error) {
    await server.stop();
    throw error;
  }
  const bounds = `radius_miles=${RADIUS_MILES}&oldest=${oldestMs}&limit=${PAGE}`;

  function contender(name: string, each: "record" | "id"): Contender {
    return {
      name,
      pid: server.pid,
      returns: { each, total: false, ages: "24 h", ties: false },
      async connect() {
        const client = await openHttpClient(server.url);
        return {
          ask({ latitude, longitude }) {
            const query = `latitude=${latitude}&longitude=${longitude}&${bounds}&each=${each}`;
            return client.ask(getRequest(`${server.url}/?${query}`, {}));
          },
          close: async () => client.close(),
        };
      },
      readDevices(answer) {
        const { results } = JSON.parse((answer as Buffer).toString()) as {
          results: readonly { readonly device_id: string }[];
        };
        return results.map(({ device_id }) => device_id);
      },
    };
  }

  return ok({
    contenders: [contender(GEOKDBUSH, "record"), contender(`${GEOKDBUSH}, of ids`, "id")],
    address,
    stop: server.stop,
  });
};

export const openGeokdbushWriter: OpenWriter = ({ port }) => openHttpWriter(`http://127.0.0.1:${port}/`);
