import { afterAll, beforeAll, describe, expect } from "bun:test";
import { decideEvents } from "../../../src/geofences/decision.ts";
import { parseFence } from "../../../src/geofences/parse/drafts.ts";
import type { Watch, WatchedRecord } from "../../../src/geofences/watch.ts";
import { createWatchVersion } from "../../../src/geofences/watch-version.ts";
import type { AppId, DeviceId, UserId } from "../../../src/model/ids.ts";
import { RANDOM_SEED } from "../../support/random-runs.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  readFirstKey,
  type ServerProcess,
  startReady,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";
import { pause } from "../support/pause.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: whatever ends the process and whenever, the events in the end are those of the acknowledged reports.
 * Method: the real process, killed and halted at random moments while reports arrive in any order, some twice; seals
 * shorten the log meanwhile. The events are compared with those that the plain function makes of all reports.
 */

const DEVICES = ["bus", "tram", "van", "ferry"];
const RECORDS = 400;
const BATCH = 4;
/** From one disturbance to the next, on average. */
const BATCHES_BETWEEN = 15;
const METERS_PER_DEGREE = 111_195;
const FENCE = {
  type: "Feature",
  geometry: { type: "Point", coordinates: [2, 1] },
  properties: { radius_meters: 100, confirmations: 2, initial: "event", dwell_seconds: 20 },
};
const SERVE_FLAGS = ["--seal-every", "1s"];

interface Report {
  readonly device_id: string;
  readonly user_id: string;
  readonly timestamp: number;
  readonly latitude: number;
  readonly longitude: number;
}

for (const runtime of RUNTIMES) {
  describe(`on ${runtime.name}`, () => {
    const random = seededRandom(RANDOM_SEED);
    const pick = (count: number) => Math.floor(random() * count);
    let place: Place;
    let server: ServerProcess;
    let key = "";

    beforeAll(async () => {
      place = openPlace();
      server = await startReady(runtime, place, SERVE_FLAGS);
      key = readFirstKey(place);
    });
    afterAll(() => closePlace(place));

    /** Null if the process ended meanwhile. */
    async function ask(path: string, body?: object): Promise<Readonly<Record<string, unknown>> | null> {
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
      try {
        const answer = await fetch(`${server.url}${path}`, init);
        return answer.status === 200 ? ((await answer.json()) as Readonly<Record<string, unknown>>) : null;
      } catch {
        return null;
      }
    }

    let batchesStored = 0;

    async function sendAll(locations: readonly Report[]): Promise<void> {
      await until(async () => (await ask("/ingest/v1/locations", { locations })) !== null);
      batchesStored++;
    }

    async function restart(): Promise<void> {
      server.kill("SIGKILL");
      await server.ended;
      server = await startReady(runtime, place, SERVE_FLAGS);
    }

    /** Ends or halts the process at random moments, after some more batches each, so that slow machines end, too. */
    async function disturb(isOver: () => boolean): Promise<void> {
      for (let times = 0; !isOver(); times++) {
        const batches = batchesStored + 1 + pick(2 * BATCHES_BETWEEN);
        await until(() => isOver() || batchesStored >= batches);
        await pause(pick(30));
        if (times % 3 === 2) {
          server.kill("SIGSTOP");
          await pause(pick(300));
          server.kill("SIGCONT");
        } else await restart();
      }
    }

    test("events are those of all reports, however often the process was killed", async () => {
      const { geofence } = (await ask("/api/v1/geofences", FENCE)) as { readonly geofence: Geofence };
      const reports = DEVICES.flatMap((device) => journey(device, geofence.created, random));
      const waiting = [...reports];
      let isOver = false;
      const disturbing = disturb(() => isOver);
      while (waiting.length > 0) {
        const batch = Array.from({ length: Math.min(BATCH, waiting.length) }, () =>
          waiting.splice(random() < 0.3 ? pick(waiting.length) : 0, 1),
        ).flat();
        await sendAll(random() < 0.2 ? [...batch, reports[pick(reports.length)]!] : batch);
      }
      isOver = true;
      await disturbing;
      await restart();
      const expected = DEVICES.flatMap((device) => plainEvents(geofence, device, reports)).sort();
      expect(expected.length).toBeGreaterThan(DEVICES.length * 4);
      await until(async () => (await eventIds()).length >= expected.length);
      expect(await eventIds()).toEqual(expected);
    });

    async function eventIds(): Promise<string[]> {
      const answer = await ask("/api/v1/events?limit=1000");
      return ((answer?.events ?? []) as { readonly id: string }[]).map(({ id }) => id).sort();
    }
  });
}

interface Geofence {
  readonly id: string;
  readonly created: number;
}

/** A device that goes in and out, once a second. */
function journey(device_id: string, startMs: number, random: () => number): Report[] {
  let isInside = false;
  return Array.from({ length: RECORDS }, (_, second) => {
    if (random() < 0.06) isInside = !isInside;
    const meters = isInside ? random() * 90 : 130 + random() * 500;
    return {
      ...{ device_id, user_id: "ada", timestamp: startMs + 1000 * (second + 1) },
      ...{ latitude: 1 + meters / METERS_PER_DEGREE, longitude: 2 },
    };
  });
}

function plainEvents({ id, created }: Geofence, device: string, reports: readonly Report[]): string[] {
  const draft = parseFence(FENCE);
  if (!draft.ok) throw new Error(draft.error);
  const versions = [createWatchVersion(draft.value.terms, 1, created)];
  const watch: Watch = { appId: "default" as AppId, id, versions, deletedMs: null };
  const records = reports
    .filter(({ device_id }) => device_id === device)
    .map(
      ({ timestamp: timestampMs, user_id, latitude, longitude }): WatchedRecord => ({
        ...{ timestampMs, userId: user_id as UserId, latitude, longitude },
        ...{ accuracyMeters: null, metersPerSecond: null, batteryPercent: null },
      }),
    );
  return decideEvents(watch, device as DeviceId, records, 0).map((event) => event.id);
}
