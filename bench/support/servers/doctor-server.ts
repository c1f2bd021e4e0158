/**
 * The whole server over an empty directory, with the doctor (`with`, as it is) or with one who looks at nothing
 * (`without`, the control), as the last argument says. The first argument is the directory, which has a key.
 */

import { openKeyStore } from "../../../src/auth/key-store.ts";
import { createRateLimit } from "../../../src/auth/rate-limit.ts";
import { directoryPaths } from "../../../src/directory/paths.ts";
import { Doctor } from "../../../src/doctor/doctor.ts";
import { inShortTurns } from "../../../src/http/answer/short-turns.ts";
import { createServer } from "../../../src/http/server.ts";
import type { Services } from "../../../src/http/services.ts";
import { createMeters } from "../../../src/metrics/meters.ts";
import { createPlatform } from "../../../src/runtime/platform.ts";
import { systemClock as clock } from "../../../src/time/clock.ts";
import { createBenchServices } from "../http/bench-services.ts";
import { openBenchDirectory } from "../store/archived-directory.ts";

const NOBODY: Services["doctor"] = { note() {}, lastRequests: () => null, *examine() {} };

const [dataDir, mode] = process.argv.slice(2);
const platform = createPlatform();
const { files, acquireLock, pid } = platform;
const directory = await openBenchDirectory(dataDir!, clock);
const keys = await openKeyStore({
  files,
  path: directoryPaths(dataDir!).keys,
  clock,
  acquireLock,
  process: { pid, command: "bench" },
});
const meters = createMeters();
const doctor = mode === "without" ? NOBODY : new Doctor();
const server = createServer({
  services: createBenchServices(directory, platform, meters, doctor),
  keys,
  rateLimit: createRateLimit(),
  corsOrigins: [],
  requests: meters.requests,
  onFault: (_id, error) => console.error(error),
  onAnswered: null,
});
process.on("SIGTERM", () => process.exit()); // Else a profiler would write nothing.
const fetch = inShortTurns(server.fetch);
console.log((await platform.listen({ hostname: "127.0.0.1", port: 0, fetch })).url);
