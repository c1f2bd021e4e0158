import { ok } from "../../../../src/lib/result.ts";
import { openHttpClient } from "../../servers/http-client.ts";
import { getRequest } from "../../servers/load.ts";
import { startProcess } from "../../servers/server.ts";
import { devicesOf, type OpenWriter, PAGE, RADIUS_MILES, type StartPeer } from "../contender.ts";
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
  return ok({
    contenders: [
      {
        name: GEOKDBUSH,
        pid: server.pid,
        returns: { records: true, total: false, ages: "24 h", ties: false },
        async connect() {
          const client = await openHttpClient(server.url);
          return {
            ask: ({ latitude, longitude }) =>
              client.ask(
                getRequest(`${server.url}/?latitude=${latitude}&longitude=${longitude}&${bounds}`, {}),
              ),
            close: async () => client.close(),
          };
        },
        readDevices(answer) {
          const { results } = JSON.parse((answer as Buffer).toString()) as {
            results: readonly { readonly device_id: string }[];
          };
          return results.map(({ device_id }) => device_id);
        },
      },
    ],
    address,
    stop: server.stop,
  });
};

export const openGeokdbushWriter: OpenWriter = ({ port }) => openHttpWriter(`http://127.0.0.1:${port}/`);
