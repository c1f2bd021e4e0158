import { afterAll, beforeAll, describe, expect } from "bun:test";
import { EventReader } from "../../support/event-reader.ts";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  readFirstKey,
  type ServerProcess,
  startReady,
} from "../../support/server-process.ts";
import { type Client, get, store } from "../support/client.ts";
import { crossings, makeFence } from "../support/crossings.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: a listener gets every event of geofences, whatever happens to the server or to the listener.
 * Method: the real process; devices that enter and leave; a server that is killed; a listener that is halted.
 */

const PATH = "/api/v1/live?types=event";
const DEVICES = 300;

for (const runtime of RUNTIMES) {
  describe(`on ${runtime.name}`, () => {
    let place: Place;
    let server: ServerProcess;
    let client: Client;
    let startMs = 0;

    async function start(): Promise<void> {
      server = await startReady(runtime, place, []);
      client = { url: server.url, key: readFirstKey(place) };
    }

    beforeAll(async () => {
      place = openPlace();
      await start();
      await makeFence(client);
      startMs = Date.now() + 1000;
    });
    afterAll(() => closePlace(place));

    const move = (step: number) => store(client, crossings(DEVICES, startMs, step), "ndjson.zst");

    test("a stream that continues after its last id misses no event, though the server was killed", async () => {
      const heard = new Map<string, string>();
      let reader = new EventReader(await get(client, PATH));
      await reader.next();
      await move(0);
      const id = await follow(reader, heard, DEVICES / 2);
      await move(1);
      server.kill("SIGKILL");
      await server.ended;
      await start();
      const headers = { authorization: `Bearer ${client.key}`, "last-event-id": id };
      reader = new EventReader(await fetch(client.url + PATH, { headers }));
      await follow(reader, heard, 2 * DEVICES);
      await reader.cancel();
      expect(kindsOf(heard)).toEqual({ enter: DEVICES, exit: DEVICES });
    });

    test("a listener that was halted gets every event once it runs again, and a stop of the server ends its stream", async () => {
      const curl = Bun.spawn(["curl", "-sN", "-H", `Authorization: Bearer ${client.key}`, client.url + PATH]);
      const stalled = new EventReader(new Response(curl.stdout));
      await stalled.next();
      curl.kill("SIGSTOP");
      const other = new EventReader(await get(client, PATH));
      const othersEvents = follow(other, new Map(), 4 * DEVICES);
      for (let step = 2; step < 6; step++) await move(step);
      await othersEvents;
      curl.kill("SIGCONT");
      const heard = new Map<string, string>();
      await follow(stalled, heard, 4 * DEVICES);
      expect(kindsOf(heard)).toEqual({ enter: 2 * DEVICES, exit: 2 * DEVICES });
      expect((await server.stop()).code).toBe(0);
      expect([await stalled.next(), await other.next()]).toEqual([null, null]);
    });
  });
}

/** Adds the kinds of events by id until there are `count` of them; returns the id to continue after. */
async function follow(reader: EventReader, heard: Map<string, string>, count: number): Promise<string> {
  for (;;) {
    const message = await reader.next();
    if (message?.type !== "message") throw new Error(`no events, but ${JSON.stringify(message)}`);
    const { events } = JSON.parse(message.data) as { readonly events: readonly Event[] };
    for (const { id, kind } of events) heard.set(id, kind);
    if (heard.size >= count) return message.id;
  }
}

interface Event {
  readonly id: string;
  readonly kind: string;
}

function kindsOf(heard: ReadonlyMap<string, string>): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const kind of heard.values()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}
