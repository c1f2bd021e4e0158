import { assert } from "../../../../src/lib/assert.ts";
import { getRequest } from "../../servers/load.ts";
import { measureOpenLoad } from "../../servers/open-load.ts";
import type { WherehouseProcess } from "../../servers/server.ts";
import type { Reported } from "../reports/reporter.ts";
import { CONNECTIONS } from "../turn.ts";
import type { Questions } from "../wrk.ts";

/** Sends queries at a fixed rate; latencies count from when a query was due. */
export function askEvenly(
  url: string,
  { paths, headers }: Questions,
  requestsPerSecond: number,
  seconds: number,
): Promise<number[]> {
  const requests = paths.map((path) => getRequest(url + path, headers));
  const endMs = performance.now() + seconds * 1000;
  let sent = 0;
  return measureOpenLoad({
    url,
    requestsPerSecond,
    connections: CONNECTIONS,
    next: () => requests[sent++ % requests.length]!,
    goesOn: () => performance.now() < endMs,
    isWatchful: true,
  });
}

/** Checks that acknowledged reports are stored. */
export async function checkReported({ url, key }: WherehouseProcess, { last }: Reported): Promise<void> {
  const { deviceId, timestampMs } = last;
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${url}/api/v1/devices/${deviceId}/locations/current`, { headers });
  const { location } = (await answer.json()) as { location: { timestamp: number } };
  assert(location.timestamp === timestampMs, `${deviceId} has moved at ${timestampMs}`);
}
