import { MS_PER_DAY } from "../../../src/model/time/units.ts";
import { type UtcDay, utcDayName, utcDayOf } from "../../../src/model/time/utc-day.ts";
import type { FullReport } from "../fleets/fleet.ts";
import { createMetropolis, type Metropolis } from "../fleets/metropolis.ts";
import { startArchiveServer } from "../servers/archive-server.ts";
import { measureLoad, postRequest } from "../servers/load.ts";
import { temporaryDataDir } from "../store/archived-directory.ts";

const MS_PER_HOUR = 3_600_000;
const MS_PER_MINUTE = 60_000;
const TRACK_DAYS_AGO = 2;
const BATCH = 1000;
const CONNECTIONS = 4;

/** A metropolis in which some devices also have a track of one day. */
export interface City {
  readonly metropolis: Metropolis;
  /** Indexes of devices with a report within 24 hours. */
  readonly live: readonly number[];
  /** Indexes of live devices with a track. */
  readonly tracked: readonly number[];
  /** The UTC day of the tracks, which ended more than 24 hours ago. */
  readonly trackDay: string;
  /** The number of reports on a UTC day. */
  countOf(day: UtcDay): number;
  /** All reports; the newest of a device comes last. */
  reports(): Iterable<FullReport>;
}

export interface CityOptions {
  readonly devices: number;
  readonly seed: number;
  readonly nowMs: number;
  /** The maximum number of devices with a track. */
  readonly tracks: number;
  /** Reports of a track, a minute apart. */
  readonly trackReports: number;
}

export function createCity({ devices, seed, nowMs, tracks, trackReports }: CityOptions): City {
  const metropolis = createMetropolis({ devices, seed, nowMs });
  const oldestMs = nowMs - MS_PER_DAY;
  keepFromTheEdge(metropolis.timestampMs, oldestMs);
  const live = Array.from(metropolis.timestampMs.keys()).filter(
    (index) => metropolis.timestampMs[index]! >= oldestMs,
  );
  const tracked = live.slice(0, tracks);
  const day = utcDayOf(nowMs - TRACK_DAYS_AGO * MS_PER_DAY);
  const trackDay = utcDayName(day);
  const startMs = Date.parse(`${trackDay}T00:00:00Z`);
  return {
    metropolis,
    live,
    tracked,
    trackDay,
    countOf: (one) =>
      metropolis.timestampMs.reduce((count, ms) => (utcDayOf(ms) === one ? count + 1 : count), 0) +
      (one === day ? tracked.length * trackReports : 0),
    *reports() {
      for (const index of tracked) {
        const last = metropolis.report(index);
        for (let step = 0; step < trackReports; step++) {
          const latitude = Number((metropolis.latitude[index]! + step * 1e-5).toFixed(6));
          yield { ...last, timestamp: startMs + step * MS_PER_MINUTE + (index % MS_PER_MINUTE), latitude };
        }
      }
      for (let index = 0; index < devices; index++) yield metropolis.report(index);
    },
  };
}

/** Makes devices an hour younger that would become a day old during the bench. */
function keepFromTheEdge(timestampMs: Float64Array, oldestMs: number): void {
  for (let index = 0; index < timestampMs.length; index++) {
    const sinceEdgeMs = timestampMs[index]! - oldestMs;
    if (sinceEdgeMs >= 0 && sinceEdgeMs < MS_PER_HOUR) timestampMs[index]! += MS_PER_HOUR;
  }
}

/** Sends the city to a server over HTTP and stops it; the directory is removed when this process ends. */
export async function writeCity(city: City): Promise<string> {
  const dataDir = temporaryDataDir("http");
  const { url, key, stop } = await startArchiveServer(dataDir);
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const batches = batchesOf(city.reports());
  await measureLoad({
    url,
    connections: CONNECTIONS,
    next() {
      const batch = batches.next();
      if (batch.done) return null;
      const body = new TextEncoder().encode(JSON.stringify({ locations: batch.value }));
      return postRequest(`${url}/ingest/v1/locations`, headers, body);
    },
  });
  await stop();
  return dataDir;
}

function* batchesOf(reports: Iterable<FullReport>): Generator<readonly FullReport[]> {
  let batch: FullReport[] = [];
  for (const report of reports) {
    batch.push(report);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
