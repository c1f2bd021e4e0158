/**
 * The server without the finding: everything between the socket and the hot store is the real thing, but `nearby` hands
 * out devices that were drawn before. Arguments: a data directory that no other process has open, and how recent the
 * positions of the devices are that are drawn from, in hours.
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
/** As many as there are questions, and more: no page is in the processor's caches when it comes again. */
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

/** Hands out one drawn page after the other, whatever is asked. */
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
