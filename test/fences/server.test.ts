import { afterAll, expect, test } from "bun:test";
import { createManualClock } from "../../src/model/time/clock.ts";
import { MS_PER_HOUR } from "../../src/model/time/units.ts";
import { type ArchiveApp, createArchiveApp, removeArchiveApps } from "../support/archive-app.ts";
import { until } from "../support/until.ts";
import type { DegradedJourney, Report } from "./degrade.ts";
import { deviceIdOf } from "./exchange.ts";
import { type MadeEvent, OURS } from "./rules.ts";
import { addScores, NO_SCORE, scoreOf } from "./score.ts";
import { createJourneys, scoreRules } from "./suite.ts";

/* The fence suite against the server: reports go in as requests, and what is scored are the events that it answers. */

afterAll(removeArchiveApps);

const SMALL = { journeys: 4, days: 1, seed: 2 };

async function ask(
  app: ArchiveApp,
  path: string,
  body?: unknown,
): Promise<Readonly<Record<string, unknown>>> {
  const headers = { authorization: `Bearer ${app.keys.full}`, "content-type": "application/json" };
  const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
  const answer = await app.fetch(`/api/v1/${path}`, init);
  expect([path, answer.status]).toEqual([path, 200]);
  return (await answer.json()) as Readonly<Record<string, unknown>>;
}

/** The events of each journey, which has a device and a fence of its own. */
async function eventsOf(app: ArchiveApp, journeys: readonly DegradedJourney[]): Promise<MadeEvent[][]> {
  const events: MadeEvent[][] = [];
  const fences: string[] = [];
  for (const [index, { journey }] of journeys.entries()) {
    const { feature } = journey.site;
    const properties = { ...(feature.properties as object), devices: [deviceIdOf(index)] };
    const { geofence } = await ask(app, "geofences", { ...feature, properties });
    fences.push((geofence as { readonly id: string }).id);
  }
  app.clock.advance(72 * MS_PER_HOUR);
  for (let batch = 0; batch < Math.max(...journeys.map(({ batches }) => batches.length)); batch++)
    for (const [index, { batches }] of journeys.entries())
      if (batch < batches.length) await app.store(batches[batch]!.map((report) => sent(report, index)));
  await until(() => app.directory.watcher.isIdle);
  for (const fence of fences) {
    const { events: answered } = await ask(app, `geofences/${fence}/events?limit=1000&kinds=enter,exit`);
    events.push([...(answered as readonly MadeEvent[])]);
  }
  return events;
}

function sent(report: Report, index: number) {
  return { ...report, device_id: deviceIdOf(index) };
}

test("the fence suite: the server misses none and makes no false event, as the rule alone", async () => {
  const journeys = [...createJourneys(SMALL)];
  const times = journeys.flatMap(({ batches }) => batches.flat().map(({ timestamp }) => timestamp));
  const clock = createManualClock(Math.floor(Math.min(...times)) - MS_PER_HOUR);
  const app = await createArchiveApp({ clock });
  app.directory.watcher.start();
  const events = await eventsOf(app, journeys);
  const scores = journeys.map(({ expected }, index) => scoreOf(expected, events[index]!));
  const { expected } = scoreRules(journeys).get(OURS)!;
  expect(expected).toBeGreaterThan(20);
  expect(scores.reduce(addScores, NO_SCORE)).toEqual({ expected, missed: 0, false: 0 });
  await app.close();
});
