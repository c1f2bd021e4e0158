import { readFileSync } from "node:fs";
import { join } from "node:path";
import { jetstreamManager } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import { type NatsCluster, startNatsCluster } from "../../../support/nats/nats-cluster.ts";
import { RUNTIMES } from "../../../support/server-process.ts";
import { until } from "../../../support/until.ts";
import { joinNode } from "./commands.ts";
import { rowsOf } from "./copies.ts";
import { type ClusterNode, createNode, firstKeyOf, removePlace } from "./nodes.ts";

/*
 * A node that returns when what it needs is gone, and a log that was made anew: with one server and two nodes, since
 * nothing that dies is looked at here.
 */

const STREAM = "wherehouse";
const DEVICE = "scene";
const MS_PER_DAY = 86_400_000;
/** Older than what is kept in memory, so that the next seal moves it and the log can be purged. */
const DAY_MS = Math.floor(Date.now() / MS_PER_DAY - 12) * MS_PER_DAY;
const WAIT_MS_MAX = 60_000;

interface Scene {
  readonly servers: NatsCluster;
  readonly first: ClusterNode;
  readonly second: ClusterNode;
  readonly key: string;
}

/** Plays both; returns what was wrong, a line each. */
export async function playScenes(onStep: (step: string) => void, signal: AbortSignal): Promise<string[]> {
  const servers = await startNatsCluster({ count: 1 });
  const nodes = RUNTIMES.map((runtime) => {
    const flags = ["--seal-every", "1s", "--log-size", "500MB"];
    return createNode({ runtime, servers: servers.servers, stream: STREAM, flags });
  });
  const [first, second] = nodes as [ClusterNode, ClusterNode];
  const end = () => {
    for (const node of nodes) void node.close();
  };
  signal.addEventListener("abort", end);
  try {
    for (const node of nodes) {
      await node.start();
      await node.ready(WAIT_MS_MAX);
    }
    const scene = { servers, first, second, key: firstKeyOf(nodes) };
    onStep("a node returns after what it needs of the log was purged");
    const faults = await returnTooLate(scene);
    onStep("the log is made anew under its name");
    return [...faults, ...(await makeAnew(scene))];
  } finally {
    signal.removeEventListener("abort", end);
    await Promise.all(nodes.map((node) => node.close()));
    await servers.close();
    for (const { place } of nodes) removePlace(place);
  }
}

/** What a start says if the log that the node needs was purged. */
const MUST_COPY = /join URL/;

/** It is refused, told what to do, and has everything once that is done. */
async function returnTooLate({ servers, first, second, key }: Scene): Promise<string[]> {
  await report(first, key, 0);
  await until(async () => (await countOf(second, key)) === 1);
  await second.kill();
  const { nodeId, floor } = clusterFileOf(second);
  // As the first node does by itself once the second is away for longer than --node-timeout.
  await servers.ask(async (connection) => {
    await (await new Kvm(connection).open(`${STREAM}-nodes`)).delete(nodeId);
  });
  let sent = 1;
  await until(async () => {
    await report(first, key, sent++);
    return (await firstMessageOf(servers)) > floor;
  });
  const faults = refusalFaults(await startFailing(second), MUST_COPY, "A node that is too late");
  // The first node seals each second: it may purge the log again before the second has told what it needs.
  let refused: string | null;
  do {
    await joinNode(second, first, true);
    refused = await startFailing(second);
  } while (refused !== null && MUST_COPY.test(refused));
  if (refused !== null) faults.push(`A node that was copied again said: ${refused}`);
  const found = await countOf(second, key);
  if (found !== sent) faults.push(`A node that was copied again has ${found} of ${sent} reports`);
  return faults;
}

/** Who follows it stops loudly, and nobody who knew the old one starts with the new one. */
async function makeAnew({ servers, first, second }: Scene): Promise<string[]> {
  await second.stop();
  await servers.ask(async (connection) => {
    const manager = await jetstreamManager(connection);
    const { config } = await manager.streams.info(STREAM);
    await manager.streams.delete(STREAM);
    await manager.streams.add(config);
  });
  const faults = refusalFaults(await startFailing(second), /was created at/, "A node that knew another log");
  await until(() => first.failure !== null);
  faults.push(...refusalFaults(first.failure, /created/, "A node whose log was made anew"));
  return faults;
}

function refusalFaults(said: string | null, pattern: RegExp, who: string): string[] {
  if (said === null) return [`${who} was started`];
  return pattern.test(said) ? [] : [`${who} said: ${said}`];
}

/** What a node says that does not start; null where it does. */
async function startFailing(node: ClusterNode): Promise<string | null> {
  try {
    await node.start();
    await node.ready(WAIT_MS_MAX);
    return null;
  } catch (error) {
    return String(error);
  }
}

async function report({ url }: ClusterNode, key: string, index: number): Promise<void> {
  const timestamp = DAY_MS + index * 1000;
  const locations = [{ device_id: DEVICE, timestamp, latitude: 55.6, longitude: 12.5, altitude: index }];
  const response = await fetch(`${url}/ingest/v1/locations`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ locations }),
  });
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
}

async function countOf(node: ClusterNode, key: string): Promise<number> {
  return (await rowsOf(node, key, DAY_MS, [DEVICE])).get(DEVICE)?.length ?? 0;
}

function firstMessageOf(servers: NatsCluster): Promise<number> {
  return servers.ask(async (connection) => {
    const { state } = await (await jetstreamManager(connection)).streams.info(STREAM);
    return state.first_seq;
  });
}

function clusterFileOf({ place }: ClusterNode) {
  const text = readFileSync(join(place.dataDir, "cluster.json"), "utf8");
  return JSON.parse(text) as { readonly nodeId: string; readonly floor: number };
}
