import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type NatsCluster, startNatsCluster } from "../../support/nats/nats-cluster.ts";
import { hasNatsServer } from "../../support/nats/nats-server.ts";
import {
  closePlace,
  createOperatorKey,
  openPlace,
  type Place,
  RUNTIMES,
  readFirstKey,
  runCommand,
  type ServerProcess,
  startReady,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";

/*
 * Goal: what is erased on one node is in no file of any node, and the report says until when the stream may have it.
 * Method: three nats-servers and three nodes, the first of which was a single process before, the last on Deno. Reports
 * of a device, archived and not, come by all nodes; it is erased on one; then every file of all three is searched.
 */

const STREAM = "erasing";
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const NODE_TIMEOUT_DAYS = 7;
const WINDOW_DAYS = 8;
const NOW_MS = Date.now();
const GONE = "phone-that-was-sold";
const LATITUDE = 53.123456789;
const LONGITUDE = -2.987654321;

const [BUN, DENO = BUN] = RUNTIMES as readonly [(typeof RUNTIMES)[0], (typeof RUNTIMES)[0]?];

interface ErasureAnswer {
  readonly state: string;
  readonly report?: {
    readonly places: readonly {
      readonly place: string;
      readonly removed: number;
      readonly files: unknown[];
    }[];
    readonly remains: readonly { readonly where: string; readonly until?: number }[];
  };
}

describe.if(hasNatsServer("an erasure in a cluster"))("a device erased on one of three nodes", () => {
  const places = [openPlace(), openPlace(), openPlace()];
  const runtimes = [BUN, BUN, DENO];
  const nodes: ServerProcess[] = [];
  let nats: NatsCluster;
  let key: string;
  let eraserKey: string;
  let boundKey: string;

  const logArgs = () => [
    ...["--log", `nats://${nats.servers.join(",")}`, "--stream", STREAM],
    ...["--log-size", "100MB", "--seal-every", "2s"],
  ];

  async function send({ url }: ServerProcess, deviceId: string, daysAgo: number, count = 3): Promise<void> {
    const place = deviceId === GONE ? [LATITUDE, LONGITUDE] : [1, 2];
    const locations = Array.from({ length: count }, (_, at) => ({
      device_id: deviceId,
      timestamp: NOW_MS - daysAgo * DAY_MS + at * 1000,
      ...{ latitude: place[0], longitude: place[1] },
    }));
    const response = await fetch(`${url}/ingest/v1/locations`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ locations }),
    });
    expect([response.status, await response.json()]).toMatchObject([200, { rejected: [] }]);
  }

  async function ask(node: ServerProcess, path: string, by = key) {
    const response = await fetch(`${node.url}${path}`, { headers: { authorization: `Bearer ${by}` } });
    return { status: response.status, body: await response.json() };
  }

  const historyOf = async (node: ServerProcess, deviceId: string) => {
    const start = new Date(NOW_MS - 40 * DAY_MS).toISOString().slice(0, 10);
    const path = `/api/v1/devices/${deviceId}/locations/history?start_date=${start}&limit=1000`;
    const { status, body } = await ask(node, path);
    return { status, locations: body.locations };
  };

  /** How many messages the quarantine of each node has. */
  const refusedOn = (all: readonly ServerProcess[]) =>
    Promise.all(
      all.map(async (node) => (await ask(node, "/api/v1/quarantine")).body.entries.length as number),
    );

  const archivedDays = ({ dataDir }: Place) =>
    readdirSync(join(dataDir, "archive")).filter((name) => name.startsWith("day=")).length;

  beforeAll(async () => {
    nats = await startNatsCluster({ count: 3 });
    const [first] = places as [Place];
    const single = await startReady(BUN, first, ["--seal-every", "1h"]);
    key = readFirstKey(first);
    for (const daysAgo of [20, 1]) for (const device of [GONE, "bus"]) await send(single, device, daysAgo);
    expect(await single.stop()).toMatchObject({ code: 0 });
    expect(await runCommand(BUN, first, ["cluster", "init", ...logArgs().slice(0, 6)])).toMatchObject({
      code: 0,
    });
    nodes.push(await startReady(BUN, first, logArgs()));
    const operatorKey = await createOperatorKey(BUN, first);
    for (const index of [1, 2]) {
      const joined = await runCommand(runtimes[index]!, places[index]!, [
        "join",
        nodes[0]!.url,
        "--key",
        operatorKey,
      ]);
      expect(joined).toMatchObject({ code: 0 });
      nodes.push(await startReady(runtimes[index]!, places[index]!, logArgs()));
    }
    eraserKey = await createKey("--permission", "erase");
    boundKey = await createKey("--permission", "write", "--device", GONE);
  });

  async function createKey(...flags: readonly string[]): Promise<string> {
    const created = await runCommand(BUN, places[0]!, ["keys", "create", "--app", "default", ...flags]);
    expect(created).toMatchObject({ code: 0 });
    return created.out.trim();
  }

  afterAll(async () => {
    for (const place of places) await closePlace(place);
    await nats?.close();
  });

  test("is in no file of any node; the report names the date until which the stream may have it", async () => {
    for (const [index, node] of nodes.entries()) {
      for (const daysAgo of [15 + index, 0]) await send(node, GONE, daysAgo);
      await send(node, "bus", 15 + index);
    }
    // A message that can't be used, by a key that is bound to the device.
    const unusable = `${nodes[2]!.url}/ingest/osmand/k/${boundKey}/${GONE}?lat=north&lon=${LONGITUDE}&timestamp=1`;
    await until(async () => (await fetch(unusable)).status === 200); // All nodes know a key within two seconds.
    await until(async () => (await refusedOn(nodes)).every((count) => count > 0));
    await until(() => places.every((place) => archivedDays(place) >= 4));
    const before = await Promise.all(nodes.map((node) => historyOf(node, "bus")));
    const [first] = places as [Place];
    expect(existsSync(join(first.dataDir, "wal.before-cluster"))).toBe(true);

    const reportFile = join(first.directory, "report.json");
    const erased = await runCommand(
      BUN,
      first,
      [
        ...["erase", "--device", GONE, "--url", nodes[1]!.url, "--key", eraserKey],
        ...["--yes", "--now", "--report", reportFile],
      ],
      [reportFile],
    );
    expect(erased).toMatchObject({ code: 0 });
    const erasedMs = Date.now();
    const id = erased.out.trim();
    const reports: ErasureAnswer[] = [];
    for (const node of nodes) {
      let answer: ErasureAnswer | null = null;
      await until(async () => {
        answer = (await ask(node, `/api/v1/erasures/${id}`, eraserKey)).body.erasure as ErasureAnswer;
        return answer.state === "finished" && answer.report !== undefined;
      });
      reports.push(answer!);
      expect((await historyOf(node, GONE)).status).toBe(404);
    }
    expect(await refusedOn(nodes)).toEqual([0, 0, 0]);
    for (const node of nodes)
      await until(async () => (await ask(node, "/api/v1/locations/current", boundKey)).status === 401);
    expect(JSON.parse(readFileSync(reportFile, "utf8"))).toMatchObject({
      device_id: GONE,
      state: "finished",
    });
    expect(await Promise.all(nodes.map((node) => historyOf(node, "bus")))).toEqual(before);

    // The last day that the stream has is this one, or the next if midnight has passed meanwhile.
    const startOfDayMs = Math.floor(NOW_MS / DAY_MS) * DAY_MS;
    const earliestMs = startOfDayMs + (WINDOW_DAYS + NODE_TIMEOUT_DAYS) * DAY_MS;
    for (const { report } of reports) {
      const held = report!.remains.filter(({ where }) => where === `stream ${STREAM}`);
      expect(held).toHaveLength(1);
      expect(held[0]!.until!).toBeGreaterThan(earliestMs);
      expect(held[0]!.until!).toBeLessThan(Math.max(earliestMs, erasedMs) + DAY_MS + HOUR_MS);
    }
    const beforeCluster = reports.map(
      ({ report }) => report!.places.find(({ place }) => place === "before_cluster")!,
    );
    expect(beforeCluster.map(({ removed }) => removed > 0)).toEqual([true, false, false]);
    expect(existsSync(join(first.dataDir, "wal.before-cluster"))).toBe(false);

    for (const node of nodes) expect(await node.stop()).toMatchObject({ code: 0 });
    for (const [index, place] of places.entries()) {
      const verified = await runCommand(runtimes[index]!, place, [
        "verify",
        "--erased",
        "--device",
        GONE,
        "--app",
        "default",
      ]);
      expect(verified).toMatchObject({ code: 0 });
      expect(filesWith(place.dataDir, patternsOf(GONE, LATITUDE, LONGITUDE))).toEqual([]);
      nodes[index] = await startReady(runtimes[index]!, place, logArgs());
      expect((await historyOf(nodes[index]!, GONE)).status).toBe(404);
    }
    expect(await Promise.all(nodes.map((node) => historyOf(node, "bus")))).toEqual(before);
  }, 240_000);
});

/** A device's id and its coordinates, as files that are not compressed would have them. */
function patternsOf(deviceId: string, ...degrees: readonly number[]): readonly Buffer[] {
  return [
    Buffer.from(deviceId),
    ...degrees.flatMap((each) => {
      const [double, integer] = [Buffer.alloc(8), Buffer.alloc(4)];
      double.writeDoubleLE(each);
      integer.writeInt32LE(Math.round(each * 1e7));
      return [double, integer, Buffer.from(String(each))];
    }),
  ];
}

function filesWith(directory: string, patterns: readonly Buffer[]): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => {
      const bytes = readFileSync(path);
      return patterns.some((pattern) => bytes.includes(pattern));
    });
}
