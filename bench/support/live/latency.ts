import { connect } from "node:net";
import { openHttpClient } from "../servers/http-client.ts";
import { getRequest, postRequest } from "../servers/load.ts";
import type { WherehouseProcess } from "../servers/server.ts";

/** The pause between reports: longer than the viewers' interval, and no multiple of it. */
const PAUSE_MS = 400;
const PAUSE_SPREAD_MS = 300;

/** The sorted times from acknowledging a report until a viewer of everything had it; 0 if it had it before. */
export async function measureLatencies(
  { url, key }: WherehouseProcess,
  reports: number,
  random: () => number,
): Promise<readonly number[]> {
  const authorization = `Bearer ${key}`;
  const stream = await openWatch(`${url}/api/v1/live`, authorization);
  const client = await openHttpClient(url);
  const latenciesMs: number[] = [];
  try {
    for (let report = 0; report < reports; report++) {
      await Bun.sleep(PAUSE_MS + random() * PAUSE_SPREAD_MS);
      const device_id = `latency-${report}`;
      const seen = stream.sees(device_id);
      const location = { device_id, timestamp: Date.now(), latitude: 1, longitude: 2 };
      const body = new TextEncoder().encode(JSON.stringify({ locations: [location] }));
      const headers = { authorization, "content-type": "application/json" };
      await client.ask(postRequest(`${url}/ingest/v1/locations`, headers, body));
      const acknowledgedMs = performance.now();
      latenciesMs.push(Math.max(0, (await seen) - acknowledgedMs));
    }
  } finally {
    client.close();
    stream.close();
  }
  return latenciesMs.sort((a, b) => a - b);
}

/** A stream that reports when a text arrived. */
async function openWatch(url: string, authorization: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let text = "";
  let wanted: { readonly text: string; resolve(ms: number): void } | null = null;
  const opened = Promise.withResolvers<void>();
  socket.on("error", opened.reject);
  socket.on("connect", () => socket.write(getRequest(url, { authorization })));
  socket.on("data", (piece: Buffer) => {
    opened.resolve();
    text += piece.toString("latin1");
    if (wanted === null || !text.includes(wanted.text)) return;
    wanted.resolve(performance.now());
    wanted = null;
    text = "";
  });
  await opened.promise;
  return {
    sees: (id: string) =>
      new Promise<number>((resolve) => {
        wanted = { text: `"${id}"`, resolve };
      }),
    close: () => socket.destroy(),
  };
}
