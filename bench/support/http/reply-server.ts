/**
 * The server without the search: everything between the socket and the hot store is real, but `nearby` returns devices
 * that were drawn before. Arguments: a data directory that no other process uses, and the maximum age of the drawn
 * devices' positions in hours.
 */

import { createRateLimit } from "../../../src/auth/rate-limit.ts";
import type { HotStore } from "../../../src/hot/hot-store.ts";
import { inShortTurns } from "../../../src/http/answer/turns.ts";
import { createServer } from "../../../src/http/server.ts";
import { assert } from "../../../src/lib/assert.ts";
import { METERS_PER_MILE } from "../../../src/model/geo/distance.ts";
import { systemClock as clock } from "../../../src/model/time/clock.ts";
import { createMeters } from "../../../src/service/metrics/meters.ts";
import type { Nearby, NearbyAnswer } from "../../../src/service/queries/nearby.ts";
import { createRandom } from "../fleets/random.ts";
import { SERVED_APP } from "../store/archived-directory.ts";
import { openServedDirectory } from "../store/served-directory.ts";
import { createBenchServices } from "./bench-services.ts";

const MS_PER_HOUR = 3_600_000;
const SEED = 9;
const PAGE = 100;
/** More pages than queries, so that no page is still in the processor's caches. */
const PAGES = 4096;
const RADIUS_METERS = 5 * METERS_PER_MILE;
const MATCHES = 2000;
const CANDIDATES = 3000;

const [dataDir, ageHours] = process.argv.slice(2);
const { directory, keys, platform, listen } = await openServedDirectory(dataDir!);
const meters = createMeters();
const services = createBenchServices(directory, keys, { platform, meters });
const server = createServer({
  services: { ...services, nearby: createDrawnNearby(directory.hot) },
  rateLimit: createRateLimit(),
  corsOrigins: [],
  requests: meters.requests,
  onFault: (_requestId, error) => console.error(error),
  onAnswered: null,
});
await listen(inShortTurns(server.fetch));

/** Returns one drawn page after another for any query. */
function createDrawnNearby(hot: HotStore): Nearby {
  const app = hot.findApp(SERVED_APP);
  assert(app !== null, "the directory has reports");
  const random = createRandom(SEED);
  const oldestMs = clock.nowMs() - Number(ageHours) * MS_PER_HOUR;
  const drawnFrom = [...app.list].filter(({ newestMs }) => newestMs >= oldestMs);
  const numbers = drawnFrom.map(({ number }) => number);
  const pages = Array.from({ length: PAGES }, (): NearbyAnswer => {
    const meters = Float64Array.from({ length: PAGE }, () => random() * RADIUS_METERS).sort();
    return {
      records: app.newestRecords,
      count: PAGE,
      devices: Uint32Array.from({ length: PAGE }, () => numbers[Math.floor(random() * numbers.length)]!),
      meters,
      bearings: meters.map(() => random() * 360),
      matches: MATCHES,
      candidates: CANDIDATES,
    };
  });
  let asked = 0;
  return (_appId, _query, _client, show) => show(pages[asked++ % PAGES]!);
}
