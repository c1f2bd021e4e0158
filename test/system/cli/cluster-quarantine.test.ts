import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { type NatsCluster, startNatsCluster } from "../../support/nats/nats-cluster.ts";
import { hasNatsServer } from "../../support/nats/nats-server.ts";
import {
  closePlace,
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
 * Two nodes of the real program, one of them on Deno, over a real NATS server that takes messages of 64 KB: what can't
 * be used lies in the quarantine of both, whichever was sent it, and is tried again or deleted on either.
 */

const NODES = RUNTIMES;

describe.if(hasNatsServer("tests of the quarantine of real nodes"))("two nodes over one server", () => {
  let nats: NatsCluster;
  let places: Place[];
  let servers: ServerProcess[];
  let key: string;

  const flags = () => ["--log", `nats://${nats.servers[0]}`, "--stream", "fleet", "--log-size", "400MB"];

  beforeAll(async () => {
    nats = await startNatsCluster({ count: 1, lines: ["max_payload: 64KB"] });
    places = NODES.map(openPlace);
    servers = await Promise.all(places.map((place, index) => startReady(NODES[index]!, place, flags())));
    key = readFirstKey(places.find(({ dataDir }) => existsSync(join(dataDir, "first-key")))!);
    for (const index of NODES.keys()) await until(() => opens(index));
  });

  afterAll(async () => {
    for (const place of places) await closePlace(place);
    await nats.close();
  });

  async function ask(index: number, path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    return fetch(`${servers[index]!.url}${path}`, { ...init, headers });
  }

  /** One of two nodes that start together makes the first key; the other learns it within two seconds. */
  async function opens(index: number): Promise<boolean> {
    return (await ask(index, "/api/v1/quarantine")).status === 200;
  }

  async function send(index: number, body: string): Promise<void> {
    const { status } = await ask(index, "/ingest/overland", { method: "POST", body });
    expect(status).toBe(200);
  }

  interface Listed {
    readonly id: string;
    readonly reason: string;
    readonly body_bytes: number;
    readonly arrived: string;
  }

  async function listed(index: number): Promise<readonly Listed[]> {
    return (await (await ask(index, "/api/v1/quarantine?limit=1000")).json()).entries;
  }

  /** Once both list as many, which they do alike. */
  async function bothList(count: number): Promise<readonly Listed[]> {
    let lists: (readonly Listed[])[] = [];
    await until(async () => {
      lists = await Promise.all([listed(0), listed(1)]);
      return lists.every(({ length }) => length === count);
    });
    expect(lists[1]).toEqual(lists[0]!);
    return lists[0]!;
  }

  test("what one node can't use shows on both, also where it is longer than a message", async () => {
    await send(0, "{ no JSON");
    await send(1, "[".repeat(300_000));
    const [long, short] = await bothList(2);
    expect([short!.body_bytes, long!.body_bytes]).toEqual([9, 300_000]);
    const shown = await Promise.all([0, 1].map((index) => ask(index, `/api/v1/quarantine/${long!.id}`)));
    const entries = await Promise.all(shown.map((response) => response.json()));
    expect(entries[0].body).toMatch(/^\[{65536}/);
    expect(entries[1]).toEqual(entries[0]);
    const { state } = await nats.ask(async (connection) =>
      (await jetstreamManager(connection)).streams.info("fleet"),
    );
    expect(state.messages).toBeGreaterThan(5); // The short one, and the pieces of the long one.
  });

  test("what is deleted on one is gone from both", async () => {
    const [long] = await bothList(2);
    expect((await ask(0, `/api/v1/quarantine/${long!.id}`, { method: "DELETE" })).ok).toBe(true);
    await bothList(1);
    expect((await ask(1, `/api/v1/quarantine/${long!.id}`)).status).toBe(404);
  });

  test("what is tried again on the other node is where it belongs, and gone from both", async () => {
    const properties = {
      timestamp: new Date(Date.now() - 2 * 365 * 86_400_000).toISOString(),
      device_id: "bus",
    };
    const geometry = { type: "Point", coordinates: [-2.9, 53.4] };
    await send(0, JSON.stringify({ locations: [{ type: "Feature", geometry, properties }] }));
    const [old] = await bothList(2);
    expect(old!.reason).toBe("too_old");
    const set = await runCommand(NODES[0]!, places[0]!, ["settings", "set", "retention", "10y"]);
    expect(set.code).toBe(0);
    await servers[1]!.says(/10y/);
    const replayed = await ask(1, `/api/v1/quarantine/${old!.id}/replay`, { method: "POST" });
    expect(await replayed.json()).toMatchObject({ accepted: 1 });
    await bothList(1);
    // The report comes by the log, which is another stream than what is deleted comes by.
    const isThere = async () => (await ask(0, "/api/v1/devices/bus/locations/current")).status === 200;
    await until(isThere);
  });

  test("a node that was killed has what it missed once it is back", async () => {
    servers[1]!.kill("SIGKILL");
    await servers[1]!.ended;
    for (let n = 0; n < 20; n++) await send(0, `{ broken ${n}`);
    const [gone] = await listed(0);
    expect((await ask(0, `/api/v1/quarantine/${gone!.id}`, { method: "DELETE" })).ok).toBe(true);
    servers[1] = await startReady(NODES[1]!, places[1]!, flags());
    await bothList(20);
  });

  test("nodes stop and start again, and nothing comes back", async () => {
    for (const [index, server] of servers.entries()) {
      expect(await server.stop()).toMatchObject({ code: 0 });
      servers[index] = await startReady(NODES[index]!, places[index]!, flags());
    }
    await bothList(20);
  });
});
