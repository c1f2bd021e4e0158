import { expect } from "bun:test";
import { seededRandom } from "../../support/seeded-random.ts";
import {
  closePlace,
  openPlace,
  type Place,
  type Runtime,
  type ServerProcess,
  startReady,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";
import { type Client, send, untilKnown } from "../support/client.ts";
import { Receiver } from "./receiver.ts";
import {
  type ListedEvent,
  listEvents,
  listStored,
  makeAlert,
  makeKey,
  reportsOf,
  subscribe,
} from "./subscriber.ts";

const DEVICES = 4;
/** Webhooks that arrive in a round, at most, before the server is killed. */
const ROUND_EVENTS_MAX = 40;

/**
 * Kills the server again and again while it takes reports and sends webhooks; expects that each event arrived, and
 * those of each device in the order in which they were stored.
 */
export async function killAndCompare(runtime: Runtime, rounds: number, seed: number): Promise<void> {
  const random = seededRandom(seed);
  const place = openPlace();
  const receiver = await Receiver.open();
  try {
    let server = await startServer(runtime, place);
    const key = await makeKey(runtime, place);
    await untilKnown({ url: server.url, key });
    await makeAlert({ url: server.url, key });
    await subscribe({ url: server.url, key }, receiver);
    let timestamp = Date.now(); // The alert is in force from now on.
    for (let round = 0; round < rounds; round++) {
      const client = { url: server.url, key };
      const reporting = report(client, () => ++timestamp);
      const target = receiver.received.length + Math.floor(random() * ROUND_EVENTS_MAX);
      await until(() => receiver.received.length >= target);
      server.kill("SIGKILL");
      await Promise.all([server.ended, reporting]);
      server = await startServer(runtime, place);
    }
    const client = { url: server.url, key };
    // The last report makes an event of each device, behind all others.
    timestamp += 2;
    for (const isFast of [true, false, true]) await post(client, ++timestamp, isFast);
    const isArrived = (id: string) => receiver.received.some((event) => event.id === id);
    let listed: readonly ListedEvent[] = [];
    await until(async () => {
      listed = await listEvents(client);
      const last = listed.filter((event) => event.timestamp === timestamp);
      // What a start finds undecided may be stored behind the last one.
      return last.length === DEVICES && listed.every((event) => isArrived(`${event.id}_${event.revision}`));
    });
    expect(outOfOrder(receiver, await listStored(client))).toEqual([]);
    expect(receiver.forged).toBe(0);
    await server.stop();
  } finally {
    receiver.close();
    await closePlace(place);
  }
}

function startServer(runtime: Runtime, place: Place): Promise<ServerProcess> {
  return startReady(runtime, place, ["--webhook-allow", "127.0.0.1"]);
}

function post(client: Client, timestamp: number, isFast: boolean): Promise<unknown> {
  return send(client, "POST", "/ingest/v1/locations", { locations: reportsOf(DEVICES, timestamp, isFast) });
}

/** Reports until the server is gone. */
async function report(client: Client, next: () => number): Promise<void> {
  try {
    for (;;) {
      const timestamp = next();
      await post(client, timestamp, timestamp % 2 === 0);
    }
  } catch (error) {
    if (error instanceof Error && error.message.startsWith("/ingest")) throw error;
  }
}

/** Events that arrived for the first time after one of their device that was stored later. */
function outOfOrder({ received }: Receiver, stored: readonly ListedEvent[]): string[] {
  const places = new Map(stored.map(({ id, revision }, place) => [`${id}_${revision}`, place]));
  const latest = new Map<string, number>();
  const ids = new Set<string>();
  return received.flatMap(({ id, data: { device_id } }) => {
    const place = places.get(id);
    if (place === undefined || ids.has(id)) return []; // What was replaced has no place any more.
    ids.add(id);
    const isLate = place < (latest.get(device_id) ?? 0);
    latest.set(device_id, Math.max(place, latest.get(device_id) ?? 0));
    return isLate ? [id] : [];
  });
}
