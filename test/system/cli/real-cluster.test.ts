import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
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
  startServing,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";

/*
 * Three nodes of the real program, one of them on Deno, over three real NATS servers: what a command changes in one
 * directory acts on all, and servers without a majority leave in force what was known.
 */

const [BUN, DENO = BUN] = RUNTIMES as [(typeof RUNTIMES)[0], (typeof RUNTIMES)[0]?];
const NODES = [BUN, BUN, DENO];
describe.if(hasNatsServer("tests of commands beside three real nodes"))(
  "three nodes over three servers",
  () => {
    let nats: NatsCluster;
    let places: Place[];
    let servers: ServerProcess[];

    beforeAll(async () => {
      nats = await startNatsCluster({ count: 3 });
      places = NODES.map(openPlace);
      const log = ["--log", `nats://${nats.servers.join(",")}`, "--stream", "fleet", "--log-size", "100MB"];
      servers = await Promise.all(places.map((place, index) => startServing(NODES[index]!, place, log)));
      await Promise.all(servers.map((server) => server.says(/Ready after/)));
    });

    afterAll(async () => {
      for (const place of places) await closePlace(place);
      await nats.close();
    });

    const command = (index: number, ...args: string[]) => runCommand(NODES[index]!, places[index]!, args);

    async function statusOf(index: number, key: string): Promise<number> {
      const { url, error } = servers[index]!;
      try {
        const headers = { authorization: `Bearer ${key}` };
        return (await fetch(`${url}/api/v1/locations/current`, { headers })).status;
      } catch (cause) {
        throw new Error(`Node ${index} does not answer, and said: ${error}`, { cause });
      }
    }

    /** Waits until every node answers the key so; how soon that is, shared-bucket.test.ts tries by a virtual clock. */
    async function untilAll(key: string, status: number): Promise<void> {
      for (const index of NODES.keys()) await until(async () => (await statusOf(index, key)) === status);
    }

    test("of three nodes that begin a cluster at once one makes the first key, and it opens all", async () => {
      const makers = places.filter(({ dataDir }) => existsSync(join(dataDir, "first-key")));
      expect(makers).toHaveLength(1);
      await untilAll(readFirstKey(makers[0]!), 200);
      for (const { dataDir } of places) {
        const names = readdirSync(dataDir);
        expect(names).toContain("cluster.json");
        expect(names.filter((name) => /^(keys|settings|pass-phrases)|^session/.test(name))).toEqual([]);
      }
    });

    test("a key that is made in one node's directory works on all, until it is revoked in another's", async () => {
      const create = ["keys", "create", "--app", "default", "--permission", "read"];
      for (const index of NODES.keys()) {
        const { code, out, error } = await command(index, ...create);
        expect([code, error]).toEqual([0, expect.stringContaining("It is shown only now")]);
        await untilAll(out.trim(), 200);
        const id = /k_\w{8}/.exec(error)![0];
        expect(await command((index + 1) % 3, "keys", "revoke", id)).toMatchObject({ code: 0 });
        await untilAll(out.trim(), 401);
      }
    });

    test("commands at once on all nodes lose nothing", async () => {
      const create = ["keys", "create", "--app", "default", "--permission", "read"];
      const made = await Promise.all([0, 1, 2, 0, 1, 2].map((index) => command(index, ...create)));
      expect(made.map(({ code }) => code)).toEqual(new Array(6).fill(0));
      const { out } = await command(1, "keys", "list");
      for (const { error } of made) expect(out).toContain(/k_\w{8}/.exec(error)![0]);
      for (const { out } of made) await untilAll(out.trim(), 200);
    });

    test("a retention that is set in one node's directory is told by all", async () => {
      expect(await command(2, "settings", "set", "retention", "10y")).toMatchObject({ code: 0 });
      await Promise.all(servers.map((server) => server.says(/10y/)));
      expect((await command(0, "settings", "list")).out).toContain("10y");
    });

    /** What a command prints once it is not refused any more: the servers elect their leaders one after another. */
    async function firstMade(words: readonly string[]): Promise<string> {
      let made = "";
      await until(async () => {
        const { code, out } = await command(0, ...words);
        made = out.trim();
        return code === 0;
      });
      return made;
    }

    /** Follows the link of `keys link` at a node, as the map does it. */
    async function followLink(index: number, code: string) {
      const { url } = servers[index]!;
      const response = await fetch(`${url}/map/session`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "sec-fetch-site": "same-origin",
          "x-wherehouse-page": "1",
        },
        body: JSON.stringify({ code }),
      });
      return { status: response.status, message: ((await response.json()) as { message?: string }).message };
    }

    async function makeLink(index: number): Promise<string> {
      const { code, out, error } = await command(index, "keys", "link", "--url", servers[index]!.url);
      expect([code, error]).toEqual([0, expect.any(String)]);
      return /#code=(\S+)/.exec(out)![1]!;
    }

    test("a link of one node signs in at another one, once on all of them", async () => {
      const code = await makeLink(0);
      const followed = await Promise.all([0, 1, 2].map((index) => followLink(index, code)));
      expect(followed.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
      for (const { status, message } of followed)
        if (status === 401) expect(message).toContain("has been used");
    });

    test("without a majority keys stay good and none can be made, until there is one again", async () => {
      const key = readFirstKey(places.find(({ dataDir }) => existsSync(join(dataDir, "first-key")))!);
      const link = await makeLink(0);
      await Promise.all([nats.kill(0), nats.kill(1)]);
      expect(await followLink(2, link)).toEqual({
        status: 503,
        message: expect.stringContaining("try again shortly"),
      });
      const create = ["keys", "create", "--app", "default", "--permission", "read"];
      const refused = await command(0, ...create);
      expect([refused.code, refused.out]).toEqual([1, ""]);
      expect(refused.error).toMatch(/The cluster (of ".*" )?can't be reached: /);
      for (const index of NODES.keys()) expect(await statusOf(index, key)).toBe(200);
      nats.restart(0);
      nats.restart(1);
      await nats.whole("fleet");
      await nats.whole("KV_fleet-shared");
      await untilAll(await firstMade(create), 200);
    });
  },
);
