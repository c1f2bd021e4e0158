import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import {
  type Place,
  type Runtime,
  readFirstKey,
  runCommand,
  type ServerProcess,
  startReady,
} from "../../support/server-process.ts";
import { csvRows } from "../../support/test-data.ts";
import { type Client, store } from "./client.ts";

/** A bus of the sample, known to a server from its archive, from memory and from late reports alike. */

const SAMPLE = join(import.meta.dir, "../../../data/samples/bus_liverpool_route14_20260126.csv.gz");
export const BUS = "4836";
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** How many days ago its reports are archived, and how many days ago others are not. */
const DAYS_AGO = { archived: 12, kept: 2 };

export type BusReport = ReturnType<typeof reportsFrom>[number];

/** All its reports, some of them without bearing, beginning at an hour of each of the two days. */
export function busReports(): readonly BusReport[] {
  return [...reportsFrom(DAYS_AGO.archived), ...reportsFrom(DAYS_AGO.kept)];
}

function reportsFrom(daysAgo: number) {
  const rows = csvRows(gunzipSync(readFileSync(SAMPLE)).toString()).filter(([id]) => id === BUS);
  const startMs = (Math.floor(Date.now() / DAY_MS) - daysAgo) * DAY_MS + 10 * HOUR_MS;
  return rows.map(([, timestamp, latitude, longitude, bearing]) => ({
    device_id: BUS,
    timestamp: startMs + Number(timestamp) - Number(rows[0]![1]),
    latitude: Number(latitude),
    longitude: Number(longitude),
    ...(bearing === "" ? {} : { bearing: Number(bearing) }),
  }));
}

/** A server that has sealed most of the reports; one in seven came when it was started again. */
export async function serveArchived(
  runtime: Runtime,
  place: Place,
  reports: readonly BusReport[],
): Promise<{ readonly server: ServerProcess; readonly client: Client }> {
  const isLate = (_: unknown, index: number) => index % 7 === 3;
  const first = await startReady(runtime, place);
  const key = readFirstKey(place);
  await store(
    { url: first.url, key },
    reports.filter((report, index) => !isLate(report, index)),
  );
  await first.stop();
  expect((await runCommand(runtime, place, ["seal"])).out).toStartWith("Archived ");
  const server = await startReady(runtime, place);
  const client = { url: server.url, key };
  await store(client, reports.filter(isLate));
  return { server, client };
}

/** A query's range of all the reports. */
export function rangeOf(reports: readonly BusReport[]): string {
  return `start=${reports[0]!.timestamp}&end=${reports.at(-1)!.timestamp + 1}`;
}
