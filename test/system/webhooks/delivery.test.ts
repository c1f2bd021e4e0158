import { afterEach, beforeEach, describe, expect } from "bun:test";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  type Runtime,
  type ServerProcess,
  startReady,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";
import { type Client, send, untilKnown } from "../support/client.ts";
import { test } from "../support/process-test.ts";
import { Receiver } from "./receiver.ts";
import { listEvents, makeAlert, makeKey, reportsOf, subscribe } from "./subscriber.ts";

/*
 * Goal: what is acknowledged reaches a webhook, signed, in order for each device.
 * Method: the real process, a fence or an alert, reports, and a receiver that checks signatures with another package.
 */

let place: Place;
let receiver: Receiver;
let server: ServerProcess;

beforeEach(async () => {
  place = openPlace();
  receiver = await Receiver.open();
});
afterEach(async () => {
  receiver.close();
  await closePlace(place);
});

async function start(runtime: Runtime): Promise<Client> {
  server = await startReady(runtime, place, ["--webhook-allow", "127.0.0.1"]);
  const client = { url: server.url, key: await makeKey(runtime, place) };
  await untilKnown(client);
  return client;
}

for (const runtime of RUNTIMES) {
  describe(`on ${runtime.name}`, () => {
    test("events of reports arrive, each once, and what a restart finds goes on", async () => {
      const client = await start(runtime);
      await makeAlert(client);
      const id = await subscribe(client, receiver);
      const { delivery } = await send(client, "POST", `/api/v1/webhooks/${id}/test`);
      expect(delivery).toMatchObject({ outcome: "delivered", status: 204 });
      const startMs = Date.now();
      for (let round = 0; round < 4; round++)
        await send(client, "POST", "/ingest/v1/locations", {
          locations: reportsOf(5, startMs + round * 1000, round % 2 === 0),
        });
      await until(() => receiver.received.length >= 20);
      await server.stop();

      const again = await startReady(runtime, place, ["--webhook-allow", "127.0.0.1"]);
      const later = { ...client, url: again.url };
      await send(later, "POST", "/ingest/v1/locations", { locations: reportsOf(5, startMs + 4000, true) });
      await until(() => receiver.received.length >= 25);
      expect(receiver.received.map(({ type }) => type)).toEqual(
        receiver.received.map(({ data }) =>
          (data.timestamp - startMs) % 2000 === 0 ? "alert_start" : "alert_end",
        ),
      );
      expect(new Set(receiver.received.map((event) => event.id)).size).toBe(25);
      expect(receiver.forged).toBe(0);
      const listed = (await listEvents(later)).map((event) => `${event.id}_${event.revision}`);
      expect(receiver.received.map((event) => event.id).sort()).toEqual(listed.sort());
      await again.stop();
    });
  });
}
