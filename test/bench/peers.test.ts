import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { bench } from "../../bench/peers.ts";
import { runBench } from "../../bench/support/bench-run.ts";
import { compareAnswers } from "../../bench/support/peers/compare.ts";
import type { AnswerCounter } from "../../bench/support/peers/connection.ts";
import { findProgram, makeDirectory, startDaemon } from "../../bench/support/peers/daemon.ts";
import { createHttpCounter, parseBody } from "../../bench/support/peers/http-answers.ts";
import { createPostgresCounter, parseRows } from "../../bench/support/peers/postgres-wire.ts";
import {
  createRespCounter,
  encodeCommand,
  parseResp,
  type RespValue,
} from "../../bench/support/peers/resp.ts";

/*
 * What the bench counts must be whole answers, however the network cuts them: each counter is fed answers in
 * pieces, and must count each answer in the piece that completes it.
 */

const texts = fc.string({ unit: "binary", maxLength: 20 });
const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 30 });

const { value: respValues } = fc.letrec<{ value: RespValue; array: readonly RespValue[] }>((tie) => ({
  value: fc.oneof({ depthSize: "small" }, texts, fc.integer(), fc.constant(null), tie("array")),
  array: fc.array(tie("value"), { maxLength: 5 }),
}));

function encodeResp(value: RespValue): string {
  if (value === null) return "$-1\r\n";
  if (typeof value === "number") return `:${value}\r\n`;
  if (typeof value === "string") return `$${Buffer.byteLength(value)}\r\n${value}\r\n`;
  return `*${value.length}\r\n${value.map(encodeResp).join("")}`;
}

function postgresMessage(type: string, body: Buffer): Buffer {
  const message = Buffer.alloc(5 + body.length);
  message.write(type);
  message.writeInt32BE(body.length + 4, 1);
  body.copy(message, 5);
  return message;
}

function postgresRow(values: readonly (string | null)[]): Buffer {
  const columns = values.map((value) => {
    const text = Buffer.from(value ?? "");
    const size = Buffer.alloc(4);
    size.writeInt32BE(value === null ? -1 : text.length);
    return Buffer.concat([size, text]);
  });
  const count = Buffer.alloc(2);
  count.writeInt16BE(values.length);
  return postgresMessage("D", Buffer.concat([count, ...columns]));
}

/** Feeds answers in pieces of the sizes given, over and over; returns how many were complete after each piece. */
function feed(counter: AnswerCounter, answers: readonly Buffer[], sizes: readonly number[]) {
  const bytes = Buffer.concat(answers);
  const ends = answers.map((_, index) => Buffer.concat(answers.slice(0, index + 1)).length);
  const counted: number[] = [];
  const expected: number[] = [];
  let total = 0;
  for (let at = 0, piece = 0; at < bytes.length; piece++) {
    const end = Math.min(bytes.length, at + sizes[piece % sizes.length]!);
    total += counter.take(bytes.subarray(at, end));
    counted.push(total);
    expected.push(ends.filter((answerEnd) => answerEnd <= end).length);
    at = end;
  }
  return { counted, expected };
}

test("createRespCounter() counts each answer in the piece that completes it", () => {
  fc.assert(
    fc.property(fc.array(respValues, { minLength: 1, maxLength: 5 }), cuts, (values, sizes) => {
      const answers = values.map((value) => Buffer.from(encodeResp(value)));
      const { counted, expected } = feed(createRespCounter(), answers, sizes);
      expect(counted).toEqual(expected);
    }),
  );
});

test("createRespCounter() counts simple strings, a null array and an empty one", () => {
  expect(createRespCounter().take(Buffer.from("+OK\r\n*-1\r\n*0\r\n+a-1b\r\n"))).toBe(4);
});

test("createRespCounter() throws the server's words where it refuses", () => {
  expect(() => createRespCounter().take(Buffer.from("-ERR unknown command\r\n"))).toThrow(
    "ERR unknown command",
  );
});

test("parseResp() reads what was written", () => {
  fc.assert(
    fc.property(respValues, (value) => {
      expect(parseResp(Buffer.from(encodeResp(value)))).toEqual(value);
    }),
  );
});

test("encodeCommand() counts bytes, not characters", () => {
  expect(encodeCommand("SET", "é", 1.5).toString()).toBe("*3\r\n$3\r\nSET\r\n$2\r\né\r\n$3\r\n1.5\r\n");
});

test("createPostgresCounter() ends an answer where the server is ready, and parseRows() has its rows", () => {
  const rows = fc.array(fc.array(fc.option(texts), { minLength: 2, maxLength: 2 }), { maxLength: 5 });
  fc.assert(
    fc.property(fc.array(rows, { minLength: 1, maxLength: 3 }), cuts, (tables, sizes) => {
      const answers = tables.map((table) =>
        Buffer.concat([
          postgresMessage("2", Buffer.alloc(0)),
          ...table.map(postgresRow),
          postgresMessage("Z", Buffer.from("I")),
        ]),
      );
      const { counted, expected } = feed(createPostgresCounter(), answers, sizes);
      expect(counted).toEqual(expected);
      expect(answers.map(parseRows)).toEqual(tables);
    }),
  );
});

test("createPostgresCounter() throws the server's words where it refuses", () => {
  const refusal = postgresMessage("E", Buffer.from("SERROR\0Mno such table\0\0"));
  expect(() => createPostgresCounter().take(refusal)).toThrow("no such table");
});

test("createHttpCounter() counts each answer in the piece that completes it", () => {
  fc.assert(
    fc.property(fc.array(texts, { minLength: 1, maxLength: 4 }), cuts, (values, sizes) => {
      const answers = values.map((value) => {
        const body = JSON.stringify(value);
        return Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
      });
      const { counted, expected } = feed(createHttpCounter(), answers, sizes);
      expect(counted).toEqual(expected);
      expect(answers.map(parseBody)).toEqual(values);
    }),
  );
});

test("createHttpCounter() throws where the status is not 200", () => {
  const refusal = Buffer.from("HTTP/1.1 429 Too Many Requests\r\ncontent-length: 2\r\n\r\n{}");
  expect(() => createHttpCounter().take(refusal)).toThrow("429");
});

/** Devices named by their distance in meters. */
function compare(ours: readonly number[], theirs: readonly number[], page = 4) {
  return compareAnswers({
    ours: ours.map(String),
    theirs: theirs.map(String),
    radiusMeters: 100,
    page,
    distanceMeters: Number,
  });
}

test("compareAnswers() counts the devices in common, and lets the edge of a page or of the radius differ", () => {
  expect(compare([1, 2, 3], [1, 2, 3])).toEqual({ devices: 3, common: 3 });
  expect(compare([1, 2, 3, 50], [1, 2, 3, 52])).toEqual({ devices: 4, common: 3 });
  expect(compare([1, 2, 98], [1, 2])).toEqual({ devices: 3, common: 2 });
});

test("compareAnswers() throws where a device is missing, too many, twice or out of order", () => {
  expect(() => compare([1, 2, 3, 50], [1, 2, 50])).toThrow("in one answer alone");
  expect(() => compare([1, 2], [1, 2, 60])).toThrow("in one answer alone");
  expect(() => compare([1, 2], [1, 2, 2])).toThrow("twice");
  expect(() => compare([1, 50, 60], [1, 60, 50])).toThrow("farther away");
});

const DAEMON = join(import.meta.dir, "../../bench/support/peers/daemon.ts");
const SERVER = `
  Bun.listen({ hostname: "127.0.0.1", port: Number(process.argv.at(-1)), socket: { data(socket, bytes) { socket.write(bytes) } } });
`;

test("startDaemon() starts a program on a port, and takes it and its directory away again", async () => {
  const directory = makeDirectory("peer-test");
  const started = await startDaemon({
    directory,
    argv: (port) => [process.execPath, "-e", SERVER, String(port)],
    stopSignal: "SIGTERM",
    async greet(port) {
      (await Bun.connect({ hostname: "127.0.0.1", port, socket: { data() {} } })).end();
    },
  });
  if (!started.ok) throw new Error(started.error);
  expect(existsSync(directory)).toBe(true);
  process.kill(started.value.pid, 0);
  await started.value.stop();
  expect(existsSync(directory)).toBe(false);
  expect(() => process.kill(started.value.pid, 0)).toThrow();
});

test("startDaemon() tells what a program said that doesn't start, and removes its directory", async () => {
  const directory = makeDirectory("peer-test");
  const started = await startDaemon({
    directory,
    argv: () => [process.execPath, "-e", "console.error('no such option'); process.exit(1)"],
    stopSignal: "SIGTERM",
    greet: () => Promise.reject(new Error("not there")),
  });
  expect(started).toEqual({ ok: false, error: "no such option" });
  expect(existsSync(directory)).toBe(false);
});

test("startDaemon() leaves nothing behind where the bench is interrupted", async () => {
  const directory = makeDirectory("peer-test");
  const script = `
    import { startDaemon } from ${JSON.stringify(DAEMON)};
    const started = await startDaemon({
      directory: ${JSON.stringify(directory)},
      argv: (port) => [process.execPath, "-e", ${JSON.stringify(SERVER)}, String(port)],
      stopSignal: "SIGTERM",
      greet: async () => {},
    });
    console.log(started.value.pid);
    setInterval(() => {}, 1000);`;
  const bencher = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
  const { value } = await bencher.stdout.getReader().read();
  const pid = Number(new TextDecoder().decode(value));
  bencher.kill("SIGINT");
  expect(await bencher.exited).toBe(130);
  expect(existsSync(directory)).toBe(false);
  expect(() => process.kill(pid, 0)).toThrow();
});

async function runSmoke(): Promise<string> {
  const lines: string[] = [];
  await runBench({ bench, isSmoke: true, given: new Map(), print: (line) => lines.push(line) });
  return lines.join("\n");
}

test("the bench measures each peer or says how to install it", async () => {
  const out = await runSmoke();
  for (const [name, figure] of [
    ["Redis", "Redis GEOSEARCH"],
    ["Tile38", "Tile38 NEARBY"],
    ["PostGIS", "PostGIS KNN"],
  ] as const) {
    const isMeasured = new RegExp(`^ *${figure} +[\\d.,]+ answers/s`, "m").test(out);
    const isLeftOut = new RegExp(`^ *${name}: left out: .+`, "m").test(out);
    expect({ name, isMeasured, isLeftOut }).toEqual({ name, isMeasured, isLeftOut: !isMeasured });
  }
}, 60_000);

test("the bench runs where no peer is in the PATH", async () => {
  const { PATH } = process.env;
  process.env.PATH = "";
  try {
    expect(findProgram("redis-server")).toBe(null);
    const out = await runSmoke();
    expect(out).toContain("Redis: left out: no redis-server in the PATH; Debian: apt install redis-server");
    expect(out).toContain("Tile38: left out: no tile38-server in the PATH; go install");
    expect(out).toMatch(/wherehouse +[\d.,]+ answers\/s/);
  } finally {
    process.env.PATH = PATH;
  }
}, 60_000);
