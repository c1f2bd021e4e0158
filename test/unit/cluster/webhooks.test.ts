import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
import { createManualClock, type ManualClock } from "../../../src/model/time/clock.ts";
import { MS_PER_MINUTE } from "../../../src/model/time/units.ts";
import { deliveriesEntry } from "../../../src/model/webhooks/deliveries-entry.ts";
import { DeliveryStore } from "../../../src/service/webhooks/delivery-store.ts";
import { removeArchiveApps } from "../../support/archive-app.ts";
import { EventCluster, type EventNode } from "../../support/geofences/event-cluster.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { CALM } from "../../support/stream/simulated-stream.ts";
import { createWebhookParts } from "../../support/test-app.ts";
import { until } from "../../support/until.ts";

/* Webhooks of a cluster: three nodes with real databases over a simulated stream, and a receiver that is a function. */

const START_MS = Date.UTC(2026, 2, 20);
const DEVICES = ["bus", "tram", "van"];

let cluster: EventCluster;
let clock: ManualClock;
let nodes: readonly EventNode[];
let id: string;
/** Ids of requests, in their order. */
let requests: string[];
let status: number;
let isFast: boolean;

beforeEach(async () => {
  clock = createManualClock(START_MS);
  requests = [];
  status = 204;
  isFast = false;
  const webhooks = {
    ...(await createWebhookParts(clock)),
    post: async ({ headers }: { readonly headers: Readonly<Record<string, string>> }) => {
      requests.push(headers["webhook-id"]!);
      return { kind: "answered", status, retryAfter: null, body: "ok" } as const;
    },
  };
  cluster = new EventCluster({ clock, random: seededRandom(1), weather: CALM, webhooks });
  for (let count = 0; count < 3; count++) await cluster.addNode();
  nodes = cluster.nodes;
  cluster.lead(nodes[0]!);
  await nodes[1]!.ask("POST", "alerts", { name: "Fast", speed_above: 10 });
  const made = await nodes[1]!.ask("POST", "webhooks", { url: "https://a.example/hook" });
  ({ id } = made.webhook as { readonly id: string });
  await cluster.settle();
});
afterEach(() => cluster.close());
afterAll(removeArchiveApps);

/** Each device makes an event. */
async function report(node: EventNode): Promise<void> {
  await send(node);
  await cluster.settle();
}

async function send(node: EventNode): Promise<void> {
  clock.advance(MS_PER_MINUTE);
  isFast = !isFast;
  const common = { timestamp: clock.nowMs(), latitude: 1, longitude: 2, speed: isFast ? 20 : 1 };
  await node.report(DEVICES.map((device_id) => ({ device_id, ...common })));
}

const arrived = (count: number) => cluster.until(until(() => requests.length >= count));
const storedBy = (node: EventNode) => node.stored().map(({ event, revision }) => `${event.id}_${revision}`);
const storeOf = (node: EventNode) => new DeliveryStore(node.app.directory.eventStore.database);
const cursorOf = (node: EventNode) => storeOf(node).findCursor(id)?.seq;
const lastSeqOf = (node: EventNode) => node.stored().at(-1)?.seq;

/** Resolves once the cursor of the webhook is at the last event on all nodes. */
const known = () =>
  cluster.until(until(() => nodes.every((node) => cursorOf(node) === lastSeqOf(nodes[0]!))));

async function deliveredBy(node: EventNode): Promise<string[]> {
  const { deliveries } = await node.ask("GET", `webhooks/${id}/deliveries?limit=1000`);
  return (deliveries as { readonly event_id: string; readonly revision: number }[]).map(
    ({ event_id, revision }) => `${event_id}_${revision}`,
  );
}

test("one node sends, and all nodes list the deliveries", async () => {
  await report(nodes[1]!);
  await report(nodes[2]!);
  await arrived(6);
  await known();
  expect(requests.toSorted()).toEqual(storedBy(nodes[2]!).toSorted());
  for (const node of nodes) expect((await deliveredBy(node)).toSorted()).toEqual(requests.toSorted());
});

test("the next sending node continues where the last one stopped, even if that one learns of it later", async () => {
  for (const [turn, isTold] of [true, false, true].entries()) {
    await report(nodes[2]!);
    await arrived(3 * (turn + 1));
    await known();
    cluster.lead(nodes[(turn + 1) % 3]!, isTold);
  }
  await report(nodes[0]!);
  await arrived(12);
  expect(requests.length).toBe(12);
  expect(nodes.map(({ app }) => app.directory.lead!.takeovers)).toEqual([2, 1, 1]);
});

test("after the sending node is killed, deliveries that were not in the log are repeated, and no event is missing", async () => {
  await report(nodes[1]!);
  await arrived(3);
  await known();
  await report(nodes[1]!);
  await arrived(6);
  await nodes[0]!.kill();
  cluster.lead(nodes[1]!, false);
  await send(nodes[2]!);
  await nodes[0]!.start();
  await cluster.settle();
  await known();
  const stored = storedBy(nodes[1]!);
  expect(stored.length).toBe(9);
  expect(new Set(requests)).toEqual(new Set(stored));
  expect(requests.length).toBeLessThanOrEqual(12);
});

test("a webhook whose receiver fails waits as long after another node takes over, and every node shows it as failing", async () => {
  status = 500;
  await report(nodes[1]!);
  await arrived(1);
  const failing = async (node: EventNode) =>
    JSON.stringify((await node.ask("GET", `webhooks/${id}`)).webhook).includes("failing");
  for (const node of nodes) await cluster.until(until(() => storeOf(node).findCursor(id)?.failing != null));
  for (const node of nodes) expect(await failing(node)).toBe(true);
  cluster.lead(nodes[2]!);
  await report(nodes[1]!);
  const { length } = requests;
  status = 204;
  clock.advance(10 * MS_PER_MINUTE);
  await arrived(length + 6);
  await known();
  expect(storeOf(nodes[0]!).findCursor(id)?.failing).toBeNull();
});

test("any node has all events since a time sent again", async () => {
  await report(nodes[0]!);
  await arrived(3);
  await known();
  await nodes[2]!.ask("POST", `webhooks/${id}/redeliver`, { since: START_MS });
  await arrived(6);
  await known();
  expect(requests.slice(3).toSorted()).toEqual(requests.slice(0, 3).toSorted());
});

test("cursors of a node that has not learned yet that another one sends are ignored", async () => {
  await report(nodes[0]!);
  await arrived(3);
  await known();
  cluster.lead(nodes[1]!);
  await report(nodes[0]!);
  await arrived(6);
  await known();
  const { log } = nodes[0]!.app.directory;
  const before = cursorOf(nodes[2]!);
  await cluster.until(log.appendStanding(deliveriesEntry(1, [{ webhookId: id, seq: 1, failing: null }], [])));
  await cluster.settle();
  await cluster.until(Promise.all(nodes.map(({ app }) => app.directory.watcher.checkpoint())));
  expect(nodes.map(cursorOf)).toEqual([before, before, before]);
});

test("a webhook that is deleted leaves nothing on any node", async () => {
  await report(nodes[0]!);
  await arrived(3);
  await known();
  await nodes[1]!.ask("DELETE", `webhooks/${id}`);
  const isGone = (node: EventNode) => storeOf(node).findCursor(id) === null && storeOf(node).count(id) === 0;
  await cluster.until(until(() => nodes.every(isGone)));
});
