/**
 * Serves only nearby, behind the real gate. The last argument selects the metering of requests: `bare` (none, the
 * control), `counted` (the default of a server), or `told` (a log line for each request, as with `--log-level debug`;
 * the lines are discarded). The first argument is a data directory that no other process uses.
 */

import { Elysia } from "elysia";
import { createRateLimit } from "../../../src/auth/rate-limit.ts";
import { createEventLog } from "../../../src/cli/screen/event-log.ts";
import { logEvents } from "../../../src/cli/screen/server-events.ts";
import { Responder } from "../../../src/http/answer/responder.ts";
import { nearby } from "../../../src/http/endpoints/devices/nearby.ts";
import { createGate } from "../../../src/http/gate.ts";
import { MinSequences } from "../../../src/http/min-sequence.ts";
import { createObserve, type Observe } from "../../../src/http/observe.ts";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import { wait } from "../../../src/lib/schedule/timers.ts";
import { systemClock as clock } from "../../../src/model/time/clock.ts";
import { createMeters, RequestMeter } from "../../../src/service/metrics/meters.ts";
import { openServedDirectory } from "../store/served-directory.ts";
import { createBenchServices } from "./bench-services.ts";

const [dataDir, mode] = process.argv.slice(2);
const { directory, keys, platform, listen } = await openServedDirectory(dataDir!);
const responder = new Responder({
  corsOrigins: [],
  scheduler: new Scheduler(),
  onFault: (_id, error) => console.error(error),
});
const services = createBenchServices(directory, keys, { platform, meters: createMeters() });
const gate = createGate({
  keys,
  sessions: services.sessions,
  rateLimit: createRateLimit(),
  clock,
  responder,
  observe: observeAs(mode!),
  unavailable: () => null,
  sequences: services.sequences,
  minSequences: new MinSequences({ sequences: services.sequences, wait }),
});
const handler = gate.keyed(nearby, nearby.open(services));
const answer = ({ request }: { request: Request }) => handler(request);
const app = new Elysia({ precompile: true, handler: { standardHostname: false } }).get(
  nearby.path,
  answer.bind(null), // As in `src/http/server.ts`.
);
await listen(app.fetch);

function observeAs(mode: string): Observe {
  if (mode === "bare") return (_method, _path, handler) => handler;
  const log = createEventLog(mode === "told" ? "debug" : "info", { error() {}, errorIsTerminal: false });
  const { onAnswered } = logEvents(log, performance.now(), (error) => {
    throw error;
  });
  return createObserve({ requests: new RequestMeter(), onAnswered });
}
