import { afterAll, afterEach, beforeAll, describe, expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import {
  closePlace,
  openPlace,
  RUNTIMES,
  readFirstKey,
  type ServerProcess,
  startReady,
} from "../../support/server-process.ts";
import { hasProcessFigures, readProcessFigures } from "../soak/support/process-figures.ts";
import { type Client, get, post, store } from "../support/client.ts";
import { test } from "../support/process-test.ts";
import { openRaw, type RawConnection } from "../support/raw-connection.ts";

/*
 * Goal: clients that are slow, silent, greedy or malicious take a bounded amount of memory, and no answer from others.
 * Method: the real process; bytes on sockets that no client library would send, while a polite client goes on asking.
 */

const MB = 1e6;
const PIECE = Buffer.alloc(1024 * 1024, " ");
const CHUNK = Buffer.concat([Buffer.from("100000\r\n"), PIECE, Buffer.from("\r\n")]);
const FLOOD_PIECES = 64; // Four times what a body may have.
/** Deno's decompressor threw what it found behind the first chunk of text past everybody. */
const DAMAGED_FAR_IN = readFileSync(join(import.meta.dir, "../fuzz/found/packed-003bc03c")).subarray(2);
const BOMBERS = 16;
const BOMBS_A_CLIENT = 4;
/** Of a polite client, beside four bodies: each of them in one turn would leave it five. */
const ROUNDS_MIN = 12;
const DECLARED_BYTES = FLOOD_PIECES * PIECE.length;

if (!hasProcessFigures)
  console.warn("Left out: the memory that bad clients take, which needs Linux's /proc.");

for (const runtime of RUNTIMES) {
  describe(`on ${runtime.name}`, () => {
    const place = openPlace();
    const connections: RawConnection[] = [];
    let server: ServerProcess;
    let client: Client;
    let host = "";
    /** Resolves when the polite client has the answers of its round. */
    let round = Promise.withResolvers<void>();
    const fleet = Array.from({ length: 1000 }, (_, number) => ({
      device_id: `bus-${number}`,
      timestamp: Date.now() - 1000,
      latitude: 42 + number / 1e4,
      longitude: -71,
    }));

    beforeAll(async () => {
      server = await startReady(runtime, place);
      client = { url: server.url, key: readFirstKey(place) };
      host = new URL(server.url).host;
      await store(client, fleet);
    });
    afterEach(() => {
      for (const connection of connections.splice(0)) connection.close();
    });
    afterAll(() => closePlace(place));

    test.each([
      ["an endless one", "Transfer-Encoding: chunked", CHUNK],
      ["one that says how long it is", `Content-Length: ${DECLARED_BYTES}`, PIECE],
    ])("a body beyond the limit is refused and not kept: %s", async (_, length, piece) => {
      await whileOthersAreAnswered(100 * MB, async () => {
        for (const [head, status] of [
          [postHead(client.key, length), 413],
          [postHead("wh_wrong", length), 401],
          [`POST /nowhere HTTP/1.1\r\nHost: ${host}\r\n${length}\r\n\r\n`, 404],
          [`GET /health HTTP/1.1\r\nHost: ${host}\r\n${length}\r\n\r\n`, 200],
        ] as const) {
          const connection = await open();
          await connection.send(head);
          for (let sent = 0; sent < FLOOD_PIECES && !connection.isClosed; sent++)
            await connection.send(piece);
          await connection.says(/\r\n\r\n/);
          expect(statusesOf(connection)).toEqual([status]);
        }
      });
    });

    test.each(["[", "%zz", "x:99999"])("a Host that is none is no failure of ours: %s", async (none) => {
      const connection = await open();
      const head = getHead("/api/v1/locations/current/columns").replace(`Host: ${host}`, `Host: ${none}`);
      await connection.send(head);
      await connection.says(/\r\n\r\n/);
      expect([200, 400]).toContain(statusesOf(connection)[0]!);
    });

    test.each([
      ["both lengths", "Content-Length: 6\r\nTransfer-Encoding: chunked", "0\r\n\r\n"],
      ["both, the other way round", "Transfer-Encoding: chunked\r\nContent-Length: 6", "0\r\n\r\n"],
      ["two lengths", "Content-Length: 6\r\nContent-Length: 5", "0\r\n\r\n"],
      ["two lengths in a line", "Content-Length: 6, 5", "0\r\n\r\n"],
      ["a length with a sign", "Content-Length: +5", "0\r\n\r\n"],
      ["a negative length", "Content-Length: -5", "0\r\n\r\n"],
      ["a length that is no number", "Content-Length: five", "0\r\n\r\n"],
      ["an unknown coding", "Transfer-Encoding: xchunked", "0\r\n\r\n"],
      ["a chunk whose size is no number", "Transfer-Encoding: chunked", "zz\r\n\r\n"],
      ["a chunk whose size is beyond counting", "Transfer-Encoding: chunked", `${"f".repeat(17)}\r\n\r\n`],
    ])("a request within another's body is not answered: %s", async (_, lengths, body) => {
      const connection = await open();
      const hidden = `GET /hidden HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
      await connection.send(`${postHead(client.key, lengths)}${body}${hidden}`);
      await connection.says(/^HTTP.*\r\n\r\n/s);
      // A second answer would be on its way before the server answers others.
      for (let asked = 0; asked < 3; asked++) await fetch(`${server.url}/health`);
      const statuses = statusesOf(connection);
      expect(statuses.length).toBeLessThan(2);
      for (const status of statuses) expect([400, 411, 501]).toContain(status);
    });

    test("headers without end are cut off", async () => {
      await whileOthersAreAnswered(50 * MB, async () => {
        for (const header of [`X-Long: ${"a".repeat(1_000_000)}`, "X-Many: b\r\n".repeat(100_000)]) {
          const connection = await open();
          await connection.send(`GET /health HTTP/1.1\r\nHost: ${host}\r\n${header}`);
          await connection.says(/^HTTP/);
          expect([[], [431], [400]]).toContainEqual(statusesOf(connection));
        }
      });
    });

    // Bun 1.4.5 closes the connection where an answer has to wait for its turn, as short ones do that come too many.
    test("pipelined requests are answered each, in their order, to whoever asks again after a close", async () => {
      const devices = fleet.slice(0, 60).map(({ device_id }) => device_id);
      const answered: string[] = [];
      for (let attempt = 1; answered.length < devices.length; attempt++) {
        expect(attempt).toBeLessThan(2 * devices.length); // Whoever is patient gets on.
        const connection = await open();
        const unanswered = devices.slice(answered.length);
        await connection.send(
          unanswered.map((device) => getHead(`/api/v1/devices/${device}/locations/current`)).join(""),
        );
        await connection.says(new RegExp(`"device_id":"${unanswered.at(-1)}"`, "s"));
        const said = [...connection.said.matchAll(/"device_id":"([\w-]+)"/g)].map(([, device]) => device!);
        answered.push(...new Set(said));
        connection.close();
      }
      expect(answered).toEqual(devices);
    });

    test("connections that idle, stop half way, trickle or never read keep nobody else waiting", async () => {
      await whileOthersAreAnswered(200 * MB, async () => {
        const page = getHead("/api/v1/locations/current?limit=1000");
        await openMany(1000, async () => undefined);
        await openMany(100, (connection) => connection.send(`GET /health HTTP/1.1\r\nHo`));
        await openMany(100, (connection) =>
          connection.send(`${postHead(client.key, "Content-Length: 900")}{`),
        );
        await openMany(100, (connection) => connection.send(page.repeat(3)), { reads: false });
        const slow = await open();
        for (const character of `${postHead(client.key, "Content-Length: 900")}${" ".repeat(50)}`) {
          await slow.send(character);
          await round.promise;
        }
        expect(slow.said).toBe("");
      });
    });

    test("a zstd body that is damaged far behind its beginning is refused, and ends nothing", async () => {
      await whileOthersAreAnswered(100 * MB, async () => {
        const headers = {
          authorization: `Bearer ${client.key}`,
          "content-type": "application/json",
          "content-encoding": "zstd",
        };
        const url = `${client.url}/ingest/v1/locations`;
        expect((await fetch(url, { method: "POST", headers, body: DAMAGED_FAR_IN })).status).toBe(400);
      });
    });

    test("many bombs at once are refused each, and memory stays bounded", async () => {
      const bytes = new Uint8Array(64 * 1024 * 1024);
      const bombs = [
        ["gzip", gzipSync(bytes)],
        ["zstd", zstdCompressSync(bytes)],
      ] as const;
      // Each leaves 16 MiB to the collector, and Bun's lets 1.4 GB of them come together under ever more bombs.
      await whileOthersAreAnswered(1200 * MB, async () => {
        const statuses: number[] = [];
        const sendInTurn = async () => {
          for (let sent = 0; sent < BOMBS_A_CLIENT; sent++) {
            const [coding, body] = bombs[sent % 2]!;
            statuses.push(await send(coding, body));
          }
        };
        await Promise.all(Array.from({ length: BOMBERS }, sendInTurn));
        for (const status of statuses) expect([413, 503]).toContain(status);
        expect(statuses).toContain(413);
      });
    });

    test("a body in chunks of one byte takes as much memory as its bytes, and no turn of anybody else", async () => {
      await whileOthersAreAnswered(200 * MB, async () => {
        const chunks = runtime.name === "Deno" ? 20_000 : 1_000_000; // Deno takes 50 µs for each, and took 30 KB.
        const connection = await open();
        await connection.send(postHead(client.key, "Transfer-Encoding: chunked"));
        const some = Buffer.from("1\r\n \r\n".repeat(10_000));
        for (let sent = 0; sent < chunks; sent += 10_000) await connection.send(some);
        await connection.send("0\r\n\r\n");
        await connection.says(/\r\n\r\n/);
        expect(statusesOf(connection)).toEqual([400]);
      });
    });

    test.each([
      ["zstd of empty blocks", "zstd", emptyBlocks(5_000_000), 400, ROUNDS_MIN],
      ["empty members of gzip", "gzip", Buffer.alloc(16e6, gzipSync("")), 400, ROUNDS_MIN],
      ["brackets", "gzip", gzipSync("[".repeat(8e6) + "]".repeat(8e6)), 400, 1],
      ["objects", "gzip", gzipSync(`{"x":[${"{},".repeat(5e6)}{}]}`), 200, ROUNDS_MIN],
      [
        "10,000 reports of new texts",
        "gzip",
        gzipSync(JSON.stringify({ locations: reportsOfNewTexts() })),
        200,
        ROUNDS_MIN,
      ],
    ])("a body takes no turn of anybody else: %s", async (_, coding, body, status, roundsMin) => {
      const act = async () => {
        expect(await Promise.all(Array.from({ length: 4 }, () => send(coding, body)))).toEqual(
          Array.from({ length: 4 }, () => status),
        );
      };
      await whileOthersAreAnswered(400 * MB, act, roundsMin);
    });

    test("with all of them there it still stops in the time that it has, and says of nothing that it failed", async () => {
      await openMany(200, async () => undefined);
      await openMany(50, (connection) => connection.send(`GET /health HTTP/1.1\r\nHo`));
      await openMany(
        50,
        (connection) => connection.send(getHead("/api/v1/locations/current?limit=1000").repeat(9)),
        {
          reads: false,
        },
      );
      const { code, error } = await server.stop();
      expect(code).toBe(0);
      expect(error).not.toMatch(/Failed to answer|stop_cut_short/);
    });

    async function send(coding: string, body: Uint8Array): Promise<number> {
      const headers = {
        authorization: `Bearer ${client.key}`,
        "content-type": "application/json",
        "content-encoding": coding,
      };
      const url = `${client.url}/ingest/v1/locations`;
      const answer = await fetch(url, { method: "POST", headers, body: new Uint8Array(body) });
      await answer.arrayBuffer();
      return answer.status;
    }

    const postHead = (key: string, lengths: string) =>
      [
        "POST /ingest/v1/locations HTTP/1.1",
        `Host: ${host}`,
        `Authorization: Bearer ${key}`,
        "Content-Type: application/json",
        `${lengths}\r\n\r\n`,
      ].join("\r\n");

    const getHead = (path: string) =>
      `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${client.key}\r\n\r\n`;

    async function open(options = {}): Promise<RawConnection> {
      const connection = await openRaw(server.url, options);
      connections.push(connection);
      return connection;
    }

    async function openMany(
      count: number,
      begin: (connection: RawConnection) => Promise<void>,
      options = {},
    ): Promise<void> {
      for (let opened = 0; opened < count; opened++) void begin(await open(options));
    }

    /**
     * A polite client asks all the while, one round after the other. Fails if fewer rounds than these are answered
     * before the act is over, or if the process grows by more than this.
     */
    async function whileOthersAreAnswered(
      growthBytesMax: number,
      act: () => Promise<void>,
      roundsMin = 1,
    ): Promise<void> {
      let isOver = false;
      let rounds = 0;
      const before = residentBytes();
      let highest = before;
      const polite = (async () => {
        while (!isOver) {
          const answers = await Promise.all([
            get(client, "/api/v1/devices/nearby?latitude=42&longitude=-71"),
            get(client, "/api/v1/devices/bus-1/locations/history"),
            post(client, fleet.slice(0, 10)),
          ]);
          // Reports may have to wait for their share of memory; who asks never has to.
          expect(answers.slice(0, 2).map(({ status }) => status)).toEqual([200, 200]);
          expect([200, 503]).toContain(answers[2]!.status);
          await Promise.all(answers.map((answer) => answer.arrayBuffer()));
          highest = Math.max(highest, residentBytes());
          if (!isOver) rounds++;
          round.resolve();
          round = Promise.withResolvers();
        }
      })();
      try {
        await Promise.all([act(), round.promise]);
      } finally {
        isOver = true;
        await polite;
      }
      expect(rounds).toBeGreaterThanOrEqual(roundsMin);
      expect(highest - before).toBeLessThan(growthBytesMax);
    }

    const residentBytes = () => (hasProcessFigures ? readProcessFigures(server.pid).residentBytes : 0);
  });
}

/** A frame of zstd with nothing in it. */
function emptyBlocks(blocks: number): Buffer {
  return Buffer.concat([
    Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0x58]),
    Buffer.alloc(blocks * 3),
    Buffer.from([1, 0, 0]),
  ]);
}

function reportsOfNewTexts(): object[] {
  const names = ["user_id", "brand", "model", "os", "os_version", "sdk_version", "type", "tracking_mode"];
  return Array.from({ length: 10_000 }, (_, row) => ({
    device_id: "texts",
    timestamp: Date.now() - 1_000_000 + row,
    latitude: 1,
    longitude: 2,
    ...Object.fromEntries(names.map((name) => [name, `${name}-${row}`.padEnd(120, "x")])),
  }));
}

/** Of all answers that came back. */
function statusesOf({ said }: RawConnection): number[] {
  return [...said.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
}
