import { Elysia } from "elysia";
import type { KeyStore } from "../auth/key-store.ts";
import type { RateLimit } from "../auth/rate-limit.ts";
import type { Scheduler } from "../lib/schedule/scheduler.ts";
import type { Meters } from "../metrics/meters.ts";
import type { Scrape } from "../metrics/scrape.ts";
import type { CurrentQueries } from "../service/current.ts";
import type { HistoryQueries } from "../service/history/history.ts";
import type { Ingest } from "../service/ingest.ts";
import type { Nearby } from "../service/nearby.ts";
import type { UserDevices } from "../service/user-devices.ts";
import type { Clock } from "../time/clock.ts";
import { createResponder } from "./answer/responder.ts";
import type { BodyBudget } from "./body/body-budget.ts";
import type { HttpError } from "./errors.ts";
import { createGate } from "./gate.ts";
import { createObserve, type ObserveDependencies } from "./observe.ts";
import { createOpenApiDocument } from "./openapi.ts";
import { deviceRoutes } from "./routes/devices.ts";
import { docsRoutes, type ReadAsset } from "./routes/docs.ts";
import { healthRoutes, type Readiness } from "./routes/health.ts";
import { ingestRoutes } from "./routes/ingest.ts";
import { locationRoutes } from "./routes/locations.ts";
import { metricsRoutes } from "./routes/metrics.ts";
import { nearbyRoutes } from "./routes/nearby.ts";
import { userRoutes } from "./routes/users.ts";
import { createUnrouted } from "./unrouted.ts";

export interface ServerDependencies {
  readonly version: string;
  readonly clock: Clock;
  readonly keys: Pick<KeyStore, "find">;
  readonly rateLimit: RateLimit;
  readonly corsOrigins: readonly string[];
  readonly readiness: () => Readiness;
  readonly countDamaged: () => Promise<number>;
  readonly ingest: Ingest;
  /** Gives long work its time: the reading of bodies, and the making of answers. */
  readonly scheduler: Scheduler;
  readonly current: CurrentQueries;
  readonly history: HistoryQueries;
  readonly nearby: Nearby;
  readonly userDevices: UserDevices;
  readonly readAsset: ReadAsset;
  readonly meters: Pick<Meters, "requests" | "reports">;
  readonly bodies: BodyBudget;
  readonly scrape: Scrape;
  readonly onAnswered: ObserveDependencies["onAnswered"];
  /** Told of every failure of ours, with the id that the client got. */
  readonly onFault: (requestId: string, error: unknown) => void;
}

/** Every route. `fetch` of what it returns answers any request, and never throws. */
export function createServer(dependencies: ServerDependencies) {
  const { version, readiness, current, history, meters, onAnswered } = dependencies;
  const responder = createResponder(dependencies);
  const observe = createObserve({ requests: meters.requests, onAnswered });
  const unavailable = () => obstacleOf(readiness());
  const gate = createGate({ ...dependencies, responder, observe, unavailable });

  const app = new Elysia({ precompile: true, handler: { standardHostname: false } })
    .onError(({ code, error, request }) =>
      code === "NOT_FOUND" ? unrouted(request) : responder.fault(request, error),
    )
    .use(healthRoutes({ ...dependencies, responder, observe })) // GET /health, /ready
    // Before the bearer plugin, which serves all routes after the first that uses it, and costs nearby a third of its speed.
    .use(nearbyRoutes({ ...dependencies, gate })) // GET /api/v1/devices/nearby
    .use(userRoutes({ ...dependencies, gate })) // GET /api/v1/users/{user_id}/locations/current, .../history, /devices
    .use(deviceRoutes({ gate, current, history })) // GET /api/v1/devices/{deviceId}/locations/current, .../history
    .use(locationRoutes({ gate, current, history })) // GET /api/v1/locations/current, .../history
    .use(ingestRoutes({ ...dependencies, gate, reports: meters.reports })) // POST /ingest/v1/locations
    .use(metricsRoutes({ ...dependencies, gate })); // GET /metrics
  // The document describes the routes above and itself; the page at /docs/ui shows it.
  app.use(
    docsRoutes({
      responder,
      observe,
      readAsset: dependencies.readAsset,
      document: () => createOpenApiDocument(app, version),
    }),
  );
  const unrouted = observe("any", "none", createUnrouted(app.routes, responder));
  return app;
}

/** What keeps the service from answering about data, as the caller is told. */
function obstacleOf(state: Readiness): HttpError | null {
  switch (state.status) {
    case "ready":
      return null;
    case "starting":
      return {
        kind: "unavailable",
        message: "the server is starting: it reads its log",
        retryAfterSeconds: 1,
      };
    case "stopping":
      return { kind: "unavailable", message: "the server is stopping", retryAfterSeconds: 5 };
  }
}
