import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type NatsCluster, startNatsCluster } from "../../support/nats/nats-cluster.ts";
import { hasNatsServer } from "../../support/nats/nats-server.ts";
import {
  closePlace,
  createOperatorKey,
  openPlace,
  type Place,
  RUNTIMES,
  runCommand,
  type ServerProcess,
  startReady,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";
import { type Client, send, untilKnown } from "../support/client.ts";
import { Receiver } from "../webhooks/receiver.ts";
import { listStored, makeAlert, makeKey, reportsOf, subscribe } from "../webhooks/subscriber.ts";

/*
 * Goal: any node of a cluster creates and lists webhooks; one node sends, and another continues once that one is
 * killed; all nodes have the same events in the same order.
 * Method: two real nodes, of which the first is killed, a nats-server and a receiver.
 */

const [runtime] = RUNTIMES as [(typeof RUNTIMES)[0]];
const DEVICES = 5;

let nats: NatsCluster;
let receiver: Receiver;
const places: Place[] = [];
const nodes: ServerProcess[] = [];
let key: string;
let id: string;

const clientOf = (index: number): Client => ({ url: nodes[index]!.url, key });
const first = () => clientOf(0);
const second = () => clientOf(1);
const flags = () => [
  ...["--log", `nats://${nats.servers.join(",")}`, "--log-size", "100MB", "--seal-every", "2s"],
  ...["--webhook-allow", "127.0.0.1"],
];

async function startNode(place = openPlace()): Promise<ServerProcess> {
  if (!places.includes(place)) places.push(place);
  return startReady(runtime, place, flags());
}

const isPossible = hasNatsServer("tests of webhooks in a cluster");

describe.if(isPossible)("webhooks in a cluster", () => {
  beforeAll(async () => {
    nats = await startNatsCluster({ count: 1 });
    receiver = await Receiver.open();
    nodes.push(await startNode());
    key = await makeKey(runtime, places[0]!);
    nodes.push(await startNode());
    await untilKnown(first());
    await untilKnown(second());
    await makeAlert(second());
    id = await subscribe(second(), receiver);
  });
  afterAll(async () => {
    receiver?.close();
    for (const place of places) await closePlace(place);
    await nats?.close();
  });

  let atMs = 0;
  let isFast = false;

  /** Each device makes an event. */
  async function report(client: Client, isNowFast = !isFast): Promise<void> {
    isFast = isNowFast;
    atMs = Math.max(atMs + 1, Date.now());
    await send(client, "POST", "/ingest/v1/locations", { locations: reportsOf(DEVICES, atMs, isFast) });
  }

  const stored = async (client: Client) =>
    (await listStored(client)).map((event) => `${event.id}_${event.revision}`);

  async function deliveries(client: Client): Promise<string[]> {
    const answer = await send(client, "GET", `/api/v1/webhooks/${id}/deliveries?limit=1000`);
    const list = answer.deliveries as unknown as { readonly event_id: string; readonly outcome: string }[];
    return list.map(({ event_id, outcome }) => `${event_id} ${outcome}`);
  }

  const idsReceived = () => receiver.received.map((each) => each.id);

  test("each event is sent once, whichever node took the report, and all nodes list the same events and deliveries", async () => {
    for (let round = 0; round < 4; round++) await report(round % 2 === 0 ? first() : second());
    const count = 4 * DEVICES;
    await until(() => receiver.received.length >= count);
    await until(async () => (await stored(second())).length === count);
    expect(await stored(second())).toEqual(await stored(first()));
    expect(new Set(idsReceived()).size).toBe(count);
    expect([receiver.received.length, receiver.forged]).toEqual([count, 0]);
    await until(async () => (await deliveries(second())).length === count);
    await until(async () => (await deliveries(first())).length === count);
    expect(await deliveries(first())).toEqual(await deliveries(second()));
  });

  test("a client continues at another node with `after`", async () => {
    const { pagination } = (await send(first(), "GET", "/api/v1/events?after=0&limit=7")) as unknown as {
      readonly pagination: { readonly after: number };
    };
    const rest = (await send(
      second(),
      "GET",
      `/api/v1/events?after=${pagination.after}&limit=1000`,
    )) as unknown as {
      readonly events: readonly { readonly id: string; readonly revision: number }[];
    };
    const all = await stored(first());
    expect(rest.events.map((event) => `${event.id}_${event.revision}`)).toEqual(all.slice(7));
  });

  test("any node tests, rotates, and sends again", async () => {
    for (const client of [first(), second()])
      expect(await send(client, "POST", `/api/v1/webhooks/${id}/test`)).toMatchObject({ success: true });
    for (const client of [first(), second()]) {
      const before = receiver.received.length;
      await send(client, "POST", `/api/v1/webhooks/${id}/redeliver`, { since: 0 });
      await until(() => receiver.received.length >= before + 4 * DEVICES);
    }
    const { secret } = await send(second(), "POST", `/api/v1/webhooks/${id}/rotate`, { overlap_hours: 1 });
    const before = receiver.received.length;
    await report(second());
    await until(() => receiver.received.length >= before + DEVICES); // The secret before signs, too.
    receiver.secret = secret!;
    await report(first());
    await until(() => receiver.received.length >= before + 2 * DEVICES);
  });

  test("another node continues when the sending node is killed: no event is missing, and few are sent twice", async () => {
    const known = receiver.received.length;
    const tests = 2;
    await until(async () => (await deliveries(second())).length === known + tests); // What was sent in the last second.
    const rounds = 10;
    for (let round = 0; round < rounds; round++) await report(first());
    nodes[0]!.kill("SIGKILL");
    await nodes[0]!.ended;
    for (let round = 0; round < rounds; round++) await report(second());
    const expected = 2 * rounds * DEVICES;
    const fresh = () => idsReceived().slice(known);
    await until(() => new Set(fresh()).size >= expected);
    await until(async () => (await stored(second())).length === 6 * DEVICES + expected);
    const newest = new Set((await stored(second())).slice(-expected));
    expect(new Set(fresh())).toEqual(newest);
    expect(fresh().length - expected).toBeLessThanOrEqual(rounds * DEVICES);
    nodes[0] = await startNode(places[0]!);
    await until(async () => (await stored(first())).length === (await stored(second())).length);
    expect(await stored(first())).toEqual(await stored(second()));
    expect(receiver.forged).toBe(0);
  });

  test("a node that joins has all events, and stores the same ones as the others afterwards", async () => {
    const operatorKey = await createOperatorKey(runtime, places[1]!);
    const place = openPlace();
    places.push(place);
    expect(await runCommand(runtime, place, ["join", nodes[1]!.url, "--key", operatorKey])).toMatchObject({
      code: 0,
      error: "",
    });
    nodes.push(await startNode(place));
    const third = clientOf(2);
    await untilKnown(third);
    expect(await stored(third)).toEqual(await stored(second()));
    await report(third);
    await until(
      async () =>
        (await stored(third)).length > 0 && (await stored(third)).length === (await stored(second())).length,
    );
    expect(await stored(third)).toEqual(await stored(second()));
  });

  test("a directory that moves into a cluster keeps its events, and its webhooks continue where they were", async () => {
    const place = openPlace();
    places.push(place);
    const taking = await Receiver.open();
    const log = ["--log", `nats://${nats.servers.join(",")}`, "--stream", "moved", "--log-size", "100MB"];
    const allowed = ["--webhook-allow", "127.0.0.1"];
    const moved = async (args: readonly string[]) => {
      const server = await startReady(runtime, place, args);
      return { server, client: { url: server.url, key: await makeKey(runtime, place) } };
    };
    try {
      const single = await moved(allowed);
      await untilKnown(single.client);
      await makeAlert(single.client);
      await subscribe(single.client, taking);
      await report(single.client, true);
      await until(() => taking.received.length === DEVICES);
      const before = await stored(single.client);
      await single.server.stop();
      expect(await runCommand(runtime, place, ["cluster", "init", ...log])).toMatchObject({ code: 0 });
      const node = await moved([...log, ...allowed]);
      await untilKnown(node.client);
      expect(await stored(node.client)).toEqual(before);
      await report(node.client, false);
      await until(() => taking.received.length >= 2 * DEVICES);
      expect(new Set(taking.received.map((each) => each.id)).size).toBe(2 * DEVICES);
      expect([taking.received.length, taking.forged]).toEqual([2 * DEVICES, 0]);
      expect((await stored(node.client)).slice(0, DEVICES)).toEqual(before);
      await node.server.stop();
    } finally {
      taking.close();
    }
  });
});
