/**
 * Nearby alone, behind the real gate, with its requests counted and told of as much as the last argument says: `bare`
 * (neither, the control), `counted` (what a server does by default), or `told` (a line of the log for each, as with
 * `--log-level debug`; nobody reads it). The first argument is a data directory that no other process has open.
 */

import { Elysia } from "elysia";
import { openKeyStore } from "../../../src/auth/key-store.ts";
import { createRateLimit } from "../../../src/auth/rate-limit.ts";
import { createEventLog } from "../../../src/cli/screen/event-log.ts";
import { logEvents } from "../../../src/cli/screen/server-events.ts";
import { directoryPaths } from "../../../src/directory/paths.ts";
import { Responder } from "../../../src/http/answer/responder.ts";
import { nearby } from "../../../src/http/endpoints/devices/nearby.ts";
import { createGate } from "../../../src/http/gate.ts";
import { createObserve, type Observe } from "../../../src/http/observe.ts";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import { createMeters } from "../../../src/metrics/meters.ts";
import { RequestMeter } from "../../../src/metrics/request-meter.ts";
import { createPlatform } from "../../../src/runtime/platform.ts";
import { systemClock as clock } from "../../../src/time/clock.ts";
import { openBenchDirectory } from "../store/archived-directory.ts";
import { createBenchServices } from "./bench-services.ts";

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
const responder = new Responder({
  corsOrigins: [],
  scheduler: new Scheduler(),
  onFault: (_id, error) => console.error(error),
});
const gate = createGate({
  keys,
  rateLimit: createRateLimit(),
  clock,
  responder,
  observe: observeAs(mode!),
  unavailable: () => null,
});
const handler = gate.keyed(nearby, nearby.open(createBenchServices(directory, platform, createMeters())));
const answer = ({ request }: { request: Request }) => handler(request);
const app = new Elysia({ precompile: true, handler: { standardHostname: false } }).get(
  nearby.path,
  answer.bind(null), // As `src/http/server.ts` has it.
);
process.on("SIGTERM", () => process.exit()); // Else a profiler would write nothing.
console.log((await platform.listen({ hostname: "127.0.0.1", port: 0, fetch: app.fetch })).url);

function observeAs(mode: string): Observe {
  if (mode === "bare") return (_method, _path, handler) => handler;
  const log = createEventLog(mode === "told" ? "debug" : "info", { error() {}, errorIsTerminal: false });
  const { onAnswered } = logEvents(log, performance.now());
  return createObserve({ requests: new RequestMeter(), onAnswered });
}
