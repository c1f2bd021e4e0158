import type { ClusterStatus } from "../../../../src/cluster/cluster-config.ts";
import { createCopies } from "../../../../src/cluster/join/copies.ts";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import { createManualClock } from "../../../../src/model/time/clock.ts";
import { createNodeFiles } from "../../../../src/runtime/node-files.ts";
import { copyNodeSqlite } from "../../../../src/runtime/node-sqlite.ts";
import { profileOf } from "../../../reference/profiles.ts";
import { type ArchiveApp, createArchiveApp } from "../../../support/archive-app.ts";
import { putAll, revisionAt } from "../../../support/geofences/test-events.ts";
import { createTestApp, type KeyName, TEST_CLUSTER, type TestApp } from "../../../support/test-app.ts";
import { bodies, refused } from "../../service/quarantine/fixture.ts";

/** A real directory with an archive, profiles and a quarantine, served over HTTP as a node's. */
export interface ServedCopies {
  readonly source: ArchiveApp;
  readonly url: string;
  readonly keys: Readonly<Record<KeyName, string>>;
  /** What the node says of its cluster. */
  status: ClusterStatus | null;
  /** Stands between the node and who asks it; null lets all through. */
  answer: ((request: Request, path: string | null, ask: () => Promise<Response>) => Promise<Response>) | null;
  /** Paths of the files that were asked for. */
  readonly asked: string[];
  readonly faults: readonly unknown[];
  close(): Promise<void>;
}

export const NOW_MS = Date.UTC(2026, 0, 28, 12);

export const at = (day: number, hour = 3) => Date.UTC(2026, 0, day, hour);

export const report = (device_id: string, timestamp: number) => ({
  device_id,
  timestamp,
  latitude: 1,
  longitude: 2,
});

export async function setName({ directory }: ArchiveApp, deviceId: string, name: string): Promise<void> {
  const edited = await directory.editProfile("fleet" as AppId, deviceId as DeviceId, profileOf({ name }));
  if (!edited.ok) throw new Error(edited.error.kind);
}

export async function serveCopies(): Promise<ServedCopies> {
  const source = await createArchiveApp({ clock: createManualClock(NOW_MS) });
  await source.store([14, 15, 16, 17].flatMap((day) => [report("a", at(day)), report("b", at(day))]));
  await setName(source, "a", "Bus 42");
  await setName(source, "never reported", "Depot");
  putAll(source.directory.eventStore, [revisionAt(at(17), "1"), revisionAt(at(18), "2")]);
  await source.seal();
  await source.directory.quarantine.put(["x", "y", "z"].map((body) => refused(body)));
  const copies = createCopies({
    files: createNodeFiles(),
    dataDir: source.dataDir,
    copySqlite: copyNodeSqlite,
    cluster: () => served.status,
    stallMs: 60_000,
  });
  const app: TestApp = await createTestApp({ copies });
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { pathname, search, searchParams } = new URL(request.url);
      const path = searchParams.get("path");
      if (path !== null) served.asked.push(path);
      const ask = () => app.fetch(`${pathname}${search}`, request);
      return served.answer === null ? ask() : served.answer(request, path, ask);
    },
  });
  const served: ServedCopies = {
    source,
    url: server.url.origin,
    keys: app.keys,
    status: TEST_CLUSTER,
    answer: null,
    asked: [],
    faults: app.faults,
    async close() {
      await server.stop(true);
      await source.close();
    },
  };
  return served;
}

/** All that a directory answers about its records, its profiles and its quarantine. */
export async function contentsOf(app: ArchiveApp) {
  const { body } = await app.get("/api/v1/locations/history?start_date=2026-01-01&end_date=2026-01-28");
  const { locations } = body;
  const current = (await app.get("/api/v1/locations/current")).body.locations;
  const { devices } = (await app.get("/api/v1/devices")).body;
  const events = app.directory.eventStore.after(null, 0, 100);
  return { locations, current, devices, events, refused: await bodies(app.directory) };
}
