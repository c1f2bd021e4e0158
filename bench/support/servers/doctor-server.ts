/**
 * The whole server over an empty directory. The last argument selects the doctor: `with` (the real one) or `without`
 * (one that does nothing, the control). The first argument is the directory, which has a key.
 */

import { createRateLimit } from "../../../src/auth/rate-limit.ts";
import { inShortTurns } from "../../../src/http/answer/turns.ts";
import { createServer } from "../../../src/http/server.ts";
import { Doctor } from "../../../src/service/doctor/doctor.ts";
import { createMeters } from "../../../src/service/metrics/meters.ts";
import { createBenchServices } from "../http/bench-services.ts";
import { openServedDirectory } from "../store/served-directory.ts";

const NO_DOCTOR = { note() {}, forget() {}, lastRequests: () => null, *examine() {}, deviceCount: 0 };

const [dataDir, mode] = process.argv.slice(2);
const { directory, keys, platform, listen } = await openServedDirectory(dataDir!);
const meters = createMeters();
const doctor = mode === "without" ? NO_DOCTOR : new Doctor();
const server = createServer({
  services: createBenchServices(directory, keys, { platform, meters, doctor }),
  rateLimit: createRateLimit(),
  corsOrigins: [],
  requests: meters.requests,
  onFault: (_id, error) => console.error(error),
  onAnswered: null,
});
await listen(inShortTurns(server.fetch));
