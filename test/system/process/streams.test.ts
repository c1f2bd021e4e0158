import { afterAll, beforeAll, describe, expect } from "bun:test";
import type { ReferenceReport } from "../../reference/records.ts";
import { EventReader, recordsOf, type StreamedRecord } from "../../support/event-reader.ts";
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
import { type Client, get, store, untilKnown } from "../support/client.ts";
import { test } from "../support/process-test.ts";
import { openRaw, type RawConnection } from "../support/raw-connection.ts";

/*
 * Goal: who listens knows what the server knows, whatever happens to either of them, and leaves nothing behind.
 * Method: the real process and its streams, which are read, cut off and left to themselves; a server that is killed.
 */

const PATH = "/api/v1/live";

for (const runtime of RUNTIMES) {
  describe(`on ${runtime.name}`, () => {
    let place: Place;
    let server: ServerProcess;
    let client: Client;

    async function start(args: readonly string[] = []): Promise<void> {
      server = await startReady(runtime, place, args);
      client = { url: server.url, key: readFirstKey(place) };
    }

    beforeAll(() => {
      place = openPlace();
    });
    afterAll(() => closePlace(place));

    // The tests that follow go on with the server that this one leaves.
    test("reports are told as they become visible, and a server that was killed is no gap", async () => {
      await start();
      const known = new Map<string, StreamedRecord>();
      let next = 0;
      const report = async (devices: number) => {
        const reports = Array.from({ length: devices }, () => reportOf(next++));
        await store(client, reports);
        return `device-${(next - 1) % DEVICES}`;
      };
      let reader = new EventReader(await get(client, PATH));
      let id = await follow(client, reader, known, await report(5));
      void report(3).catch(() => undefined); // What of it comes before the end is anybody's guess.
      server.kill("SIGKILL");
      for (let event = await nextOrNull(reader); event !== null; event = await nextOrNull(reader)) {
        for (const record of recordsOf(event)) known.set(record.device_id, record);
        id = event.id;
      }
      await server.ended;

      await start();
      const headers = { authorization: `Bearer ${client.key}`, "last-event-id": id };
      reader = new EventReader(await fetch(client.url + PATH, { headers }));
      await follow(client, reader, known, await report(4));
      expect([...known.values()].sort(byId)).toEqual([...(await currentOf(client))]);

      // Nothing was lost that this id doesn't cover, so what comes next is no reset.
      const more = await get(client, `${PATH}?since=${await sequenceOf(client)}`);
      const last = await report(2);
      const resumed = new EventReader(more);
      await resumed.recordsUntil(({ device_id }) => device_id === last);
      expect(resumed.text).not.toContain("reset");
    });

    test("a thousand connections that come and go leave the server as it was", async () => {
      for (let round = 0; round < 10; round++) {
        const opened = await Promise.all(Array.from({ length: 100 }, () => openRaw(client.url)));
        await Promise.all(opened.map((raw) => raw.send(request(client))));
        for (const raw of opened) raw.close();
      }
      (await untilOpen(client)).close();
      expect(server.error).not.toContain("Failed to answer");
    });

    test("a stream ends with its key", async () => {
      const flags = ["--app", "default", "--permission", "read", "--label", "viewer"];
      const key = (await runCommand(runtime, place, ["keys", "create", ...flags])).out.trim();
      await untilKnown({ ...client, key });
      const [reader, kept] = [
        new EventReader(await get({ ...client, key }, PATH)),
        new EventReader(await get(client, PATH)),
      ];
      await reader.next();
      const { out } = await runCommand(runtime, place, ["keys", "list"]);
      const id = /k_\w{8}(?=.*viewer)/.exec(out)![0];
      expect((await runCommand(runtime, place, ["keys", "revoke", id])).code).toBe(0);
      expect(await reader.next()).toBeNull();
      await store(client, [{ ...reportOf(2), device_id: "device-key" }]);
      expect((await kept.recordsUntil(() => true))[0]!.device_id).toBe("device-key");
      await kept.cancel();
    });

    test("a viewer that takes nothing is told to take a snapshot when it wakes, and others miss nothing", async () => {
      const curl = Bun.spawn(["curl", "-sN", "-H", `Authorization: Bearer ${client.key}`, client.url + PATH]);
      const stalled = new EventReader(new Response(curl.stdout));
      await stalled.next();
      curl.kill("SIGSTOP");
      const other = new EventReader(await get(client, PATH));
      const told = follow(client, other, new Map(), "device-last");
      const startMs = Date.now() - 1000 * ROUNDS;
      for (let round = 0; round < ROUNDS; round++) {
        const reports = Array.from({ length: DEVICES_OF_MANY }, (_, device) => ({
          ...reportOf(device),
          device_id: `many-${device}`,
          timestamp: startMs + 1000 * round,
          ...{ brand: LONG, model: LONG },
        }));
        await store(client, reports, "ndjson.zst");
      }
      await store(client, [{ ...reportOf(0), device_id: "device-last" }]);
      await told;
      curl.kill("SIGCONT");
      for (let event = await stalled.next(); event?.type !== "reset"; event = await stalled.next())
        expect(event).not.toBeNull();
      await store(client, [{ ...reportOf(1), device_id: "device-behind" }]);
      // A reset may have waited in buffers on the way, and another behind it.
      await follow(client, stalled, new Map(), "device-behind");
      curl.kill();
    });

    test("a server that stops ends all streams, also those that nobody takes", async () => {
      const reader = new EventReader(await get(client, PATH));
      await reader.next();
      const stalled = await listenRaw(client, false);
      await store(client, [{ ...reportOf(0), device_id: "device-stop" }]);
      await reader.next();
      server.kill("SIGTERM");
      expect(await reader.next()).toBeNull();
      const { code, error } = await server.ended;
      expect(code).toBe(0);
      expect(error).not.toMatch(/"level":"(error|fatal)"|stop_cut_short/);
      stalled.close();
    });

    test("whoever leaves, in whatever way, makes room for another", async () => {
      await start(["--max-viewers", "2"]); // One for each app.
      const ways: ((raw: RawConnection) => Promise<void>)[] = [
        async (raw) => {
          await raw.says(/"locations"/);
          raw.close();
        },
        async (raw) => raw.close(), // Perhaps before anything was asked for.
      ];
      for (const leave of [...ways, ...ways]) {
        const raw = await untilOpen(client);
        expect((await get(client, PATH)).status).toBe(503);
        await leave(raw);
      }
      (await untilOpen(client)).close();
    });
  });
}

const DEVICES = 3;
/** More changes than the server remembers, and than the buffers on the way hold. */
const ROUNDS = 40;
const DEVICES_OF_MANY = 5000;
const LONG = "x".repeat(120);
const startedMs = Date.now() - 3_600_000;

function reportOf(number: number): ReferenceReport {
  return {
    device_id: `device-${number % DEVICES}`,
    timestamp: startedMs + number * 1000,
    latitude: 53 + number / 1000,
    longitude: -2,
  };
}

/** Takes in what comes, up to a device of that name; returns the id to go on from. */
async function follow(
  client: Client,
  reader: EventReader,
  known: Map<string, StreamedRecord>,
  until: string,
): Promise<string> {
  for (let isThere = false; ; ) {
    const event = await reader.next();
    if (event === null) throw new Error(`the stream ended before it told of ${until}`);
    if (event.type === "reset") {
      known.clear();
      for (const record of await currentOf(client)) known.set(record.device_id, record);
      isThere = known.has(until);
    } else {
      for (const record of recordsOf(event)) known.set(record.device_id, record);
      isThere = recordsOf(event).some(({ device_id }) => device_id === until);
    }
    if (isThere) return event.id;
  }
}

/** Null where the connection broke off. */
async function nextOrNull(reader: EventReader) {
  try {
    return await reader.next();
  } catch {
    return null;
  }
}

async function currentOf(client: Client): Promise<readonly StreamedRecord[]> {
  const response = await get(client, "/api/v1/locations/current?limit=1000");
  return ((await response.json()) as { locations: StreamedRecord[] }).locations;
}

async function sequenceOf(client: Client): Promise<number> {
  const response = await get(client, "/api/v1/locations/current/columns");
  return ((await response.json()) as { sequence: number }).sequence;
}

function byId(a: StreamedRecord, b: StreamedRecord): number {
  return a.device_id < b.device_id ? -1 : 1;
}

function request({ key }: Client): string {
  return `GET ${PATH} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`;
}

async function listenRaw(client: Client, reads: boolean): Promise<RawConnection> {
  const raw = await openRaw(client.url, { reads });
  await raw.send(request(client));
  return raw;
}

/** A stream, once there is room for one: that a connection was closed is noticed a moment later. */
async function untilOpen(client: Client): Promise<RawConnection> {
  let opened: RawConnection | null = null;
  await until(async () => {
    const raw = await listenRaw(client, true);
    await raw.says(/\r\n\r\n/);
    if (raw.said.startsWith("HTTP/1.1 200")) opened = raw;
    else raw.close();
    return opened !== null;
  });
  return opened!;
}
