import { createManualClock, type ManualClock } from "../../../../src/model/time/clock.ts";
import { DEFAULT_RETENTION, type Retention } from "../../../../src/model/time/retention.ts";
import { SimulatedServers } from "../../../support/stream/simulated-servers.ts";
import { CALM, ROUGH, type StreamWeather } from "../../../support/stream/simulated-stream.ts";
import { VirtualTime } from "../../../support/stream/virtual-time.ts";
import { createDraws, type Draws } from "../run/draws.ts";
import { RUN_START_MS } from "../run/plan.ts";
import type { Planted } from "../run/service.ts";

/** DuckDB takes real time for its statements. */
const STATEMENT_MS_MAX = 20_000;

/** What all nodes of a run share. */
export interface ClusterWorld {
  readonly draws: Draws;
  /** What messages take on their way. */
  readonly time: VirtualTime;
  /** The time of day, which days depend on. */
  readonly clock: ManualClock;
  readonly retention: Retention;
  readonly servers: SimulatedServers;
  readonly weather: StreamWeather;
  readonly planted: Planted;
}

export function createClusterWorld(seed: number, planted: Planted): ClusterWorld {
  const draws = createDraws(seed);
  const time = new VirtualTime(STATEMENT_MS_MAX);
  return {
    draws,
    time,
    clock: createManualClock(RUN_START_MS),
    retention: DEFAULT_RETENTION,
    servers: new SimulatedServers("wherehouse", () => time.nowMs()),
    weather: draws.chance(0.3) ? CALM : ROUGH,
    planted,
  };
}
