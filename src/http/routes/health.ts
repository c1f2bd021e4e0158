import { Elysia } from "elysia";
import type { Clock } from "../../time/clock.ts";
import type { Responder } from "../answer/responder.ts";
import type { Observe } from "../observe.ts";
import { describeHealth, describeReady } from "../schema/describe.ts";

/** How far the service is: it starts, it serves, it stops. */
export type Readiness =
  | { readonly status: "starting"; readonly replayed: number; readonly total: number }
  | { readonly status: "ready" }
  | { readonly status: "stopping" };

export interface HealthDependencies {
  readonly responder: Responder;
  readonly observe: Observe;
  readonly clock: Clock;
  readonly version: string;
  readonly readiness: () => Readiness;
  /** Damages that nobody has acknowledged. */
  readonly countDamaged: () => Promise<number>;
}

/** Whether the process runs, and whether it knows all it was told. Both need no key. */
export function healthRoutes(dependencies: HealthDependencies) {
  const { responder, observe, clock, version, readiness, countDamaged } = dependencies;
  const startedMs = clock.nowMs();
  const health = observe("GET", "/health", (request) => {
    const uptimeSeconds = Math.max(0, clock.nowMs() - startedMs) / 1000;
    return responder.object(request, 200, { status: "ok", version, uptime_seconds: uptimeSeconds });
  });
  const ready = observe("GET", "/ready", async (request) => {
    const state = readiness();
    if (state.status === "ready") {
      return responder.object(request, 200, { ...state, damaged: await countDamaged() });
    }
    return responder.object(request, 503, state, { "retry-after": "1" });
  });
  return new Elysia()
    .get("/health", ({ request }) => health(request), { detail: describeHealth })
    .get("/ready", ({ request }) => ready(request), { detail: describeReady });
}
