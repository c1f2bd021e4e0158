import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import type { ClusterFile } from "../../../src/cluster/cluster-file.ts";
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

/** A node more of a real cluster: it has what was sealed and purged before it came, and what came since. */

const STREAM = "joining";
const DAY_MS = 86_400_000;
const BEGIN = Date.now();

const isPossible = hasNatsServer("tests of nodes that join a cluster");

describe.if(isPossible).each(RUNTIMES.map((runtime) => [runtime.name, runtime] as const))(
  "on %s",
  (_, runtime) => {
    const places: Place[] = [];
    let nats: NatsCluster;
    let first: ServerProcess;
    let place: Place;
    let key: string;
    let operatorKey: string;

    const newPlace = () => {
      const made = openPlace();
      places.push(made);
      return made;
    };
    const log = () => [
      "--log",
      `nats://${nats.servers.join(",")}`,
      "--stream",
      STREAM,
      "--log-size",
      "100MB",
      "--seal-every",
      "2s",
    ];
    const fileOf = ({ dataDir }: Place) =>
      JSON.parse(readFileSync(join(dataDir, "cluster.json"), "utf8")) as ClusterFile;
    const floorOf = (target: Place) => fileOf(target).floor;
    const lastTakenOf = (target: Place) => fileOf(target).lastTaken?.number ?? 0;
    const stateOf = () =>
      nats.ask(async (connection) => {
        const manager = await jetstreamManager(connection, { checkAPI: false });
        return (await manager.streams.info(STREAM)).state;
      });
    const firstMessage = async () => (await stateOf()).first_seq;
    async function send(server: ServerProcess, device_id: string, daysAgo: number) {
      const timestamp = BEGIN - daysAgo * DAY_MS;
      const response = await fetch(`${server.url}/ingest/v1/locations`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({ locations: [{ device_id, timestamp, latitude: 1, longitude: 2 }] }),
      });
      expect([response.status, await response.json()]).toMatchObject([200, { accepted: 1 }]);
    }
    async function setName({ url }: ServerProcess, deviceId: string, name: string | null) {
      const response = await fetch(`${url}/api/v1/devices/${deviceId}/profile`, {
        method: name === null ? "DELETE" : "PUT",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        ...(name === null ? {} : { body: JSON.stringify({ name }) }),
      });
      expect(response.status).toBe(200);
    }
    const namesIn = (told: unknown[][]) =>
      (told[2] as { device_id: string; name?: string }[]).flatMap(({ device_id, name }) =>
        name === undefined ? [] : [`${device_id}: ${name}`],
      );
    async function answers({ url }: ServerProcess) {
      const days = new Date(BEGIN - 40 * DAY_MS).toISOString().slice(0, 10);
      const headers = { authorization: `Bearer ${key}` };
      const history = await fetch(`${url}/api/v1/locations/history?start_date=${days}&limit=1000`, {
        headers,
      });
      const current = await fetch(`${url}/api/v1/locations/current`, { headers });
      const devices = await fetch(`${url}/api/v1/devices?limit=1000`, { headers });
      return [
        (await history.json()).locations,
        (await current.json()).locations,
        (await devices.json()).devices,
      ];
    }

    beforeAll(async () => {
      nats = await startNatsCluster({ count: 1 });
      place = newPlace();
      first = await startReady(runtime, place, log());
      key = readFirstKey(place);
      operatorKey = await createOperatorKey(runtime, place);
    });
    afterAll(async () => {
      for (const each of places) await closePlace(each);
      await nats.close();
    });

    const joinTo = (target: Place, ...more: string[]) =>
      runCommand(runtime, target, ["join", first.url, "--key", operatorKey, ...more]);

    test("a node whose log was purged meanwhile copies again, and answers as the others do", async () => {
      await setName(first, "bus-12", "Bus of the north");
      await setName(first, "silent", "Has not reported");
      for (let day = 10; day < 20; day++) await send(first, `bus-${day}`, day);
      await until(async () => floorOf(place) > 10 && (await firstMessage()) > 10);
      const third = newPlace();
      expect(await joinTo(third)).toMatchObject({ code: 0 });
      for (let day = 20; day < 25; day++) await send(first, `train-${day}`, day);
      await setName(first, "train-21", "Night train");
      const gone = floorOf(third);
      await until(async () => floorOf(place) > gone && (await firstMessage()) > gone);
      const refused = await runCommand(runtime, third, ["serve", "--port", "0", ...log()]);
      expect(refused.code).toBe(1);
      expect(refused.error).toContain("join");
      expect(await joinTo(third)).toMatchObject({ code: 1, error: expect.stringContaining("--again") });
      expect(await joinTo(third, "--again")).toMatchObject({ code: 0, error: "" });
      const node = await startReady(runtime, third, log());
      const told = await answers(node);
      expect(told[0].length).toBe(15);
      expect(namesIn(told)).toEqual([
        "bus-12: Bus of the north",
        "silent: Has not reported",
        "train-21: Night train",
      ]);
      expect(told).toEqual(await answers(first));
      expect(await node.stop()).toMatchObject({ code: 0 });
    });

    test("a node more answers what was purged from the log before it came, and what came since", async () => {
      expect(await firstMessage()).toBeGreaterThan(10);
      await send(first, "ferry", 0);
      const second = newPlace();
      const joined = await joinTo(second);
      expect(joined).toMatchObject({ code: 0, error: "" });
      expect(joined.out).toContain(`serve --log nats://${nats.servers[0]} --stream ${STREAM} --data-dir`);
      await send(first, "tram", 0);
      await setName(first, "tram", "Tram 4");
      await setName(first, "silent", null);
      const node = await startReady(runtime, second, log());
      await send(node, "taxi", 0);
      await until(async () => JSON.stringify(await answers(first)).includes("taxi"));
      const told = await answers(node);
      expect(told[0]).toHaveLength(18);
      expect(namesIn(told)).toEqual(["bus-12: Bus of the north", "train-21: Night train", "tram: Tram 4"]);
      expect(told).toEqual(await answers(first));
      expect(await node.stop()).toMatchObject({ code: 0 });
    });

    test("nodes that know what a log has lost refuse it, also once others have written on", async () => {
      await nats.kill(0);
      const putBack = nats.keepStore(0);
      nats.restart(0);
      await nats.whole(STREAM);
      await send(first, "monorail", 30);
      const lost = (await stateOf()).last_seq;
      await until(() => lastTakenOf(place) === lost); // It is sealed, though earlier ones are needed still.
      const third = newPlace();
      expect(await joinTo(third)).toMatchObject({ code: 0 });
      expect(await first.stop()).toMatchObject({ code: 0 });
      await nats.kill(0);
      putBack();
      nats.restart(0);
      await nats.whole(STREAM);

      const serve = (target: Place) => runCommand(runtime, target, ["serve", "--port", "0", ...log()]);
      const lacking = await serve(place);
      expect([lacking.code, lacking.error]).toEqual([1, expect.stringContaining("ends with message")]);
      await nats.ask(async (connection) => {
        const client = jetstream(connection);
        for (let n = 1; n <= 5; n++) await client.publish(`${STREAM}.log`, "other", { msgID: `other ${n}` });
      });
      for (const target of [place, third]) {
        const { code, error } = await serve(target);
        expect([code, error]).toEqual([
          1,
          expect.stringContaining("is not the one that this node has applied"),
        ]);
        expect(error).toContain("join URL --again");
      }
    });
  },
);
