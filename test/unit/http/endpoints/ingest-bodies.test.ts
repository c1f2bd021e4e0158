import { describe, expect, jest, test } from "bun:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { answerOf, createTestApp, NOON_MS } from "../../../support/test-app.ts";
import { INGEST_PATH } from "../requests.ts";

/** What bodies `POST /ingest/v1/locations` reads: contract §2 and §4. */

const MIB = 1024 * 1024;
const BODY_BYTES_MAX = 16 * MIB;
const JSON_TYPE = "application/json";
const NDJSON_TYPE = "application/x-ndjson";

const app = await createTestApp();

interface Sent {
  readonly type?: string | null;
  readonly encoding?: string;
  readonly declared?: number;
}

async function send(body: BodyInit | null, { type = JSON_TYPE, encoding, declared }: Sent = {}) {
  const headers: Record<string, string> = { authorization: `Bearer ${app.keys.full}` };
  if (type !== null) headers["content-type"] = type;
  if (encoding !== undefined) headers["content-encoding"] = encoding;
  if (declared !== undefined) headers["content-length"] = String(declared);
  const { status, body: answer } = await answerOf(
    await app.fetch(INGEST_PATH, { method: "POST", headers, body }),
  );
  return { status, body: answer as unknown };
}

let nextTimestamp = NOON_MS - 1_000_000;

function report(more: object = {}) {
  return { device_id: "bus", timestamp: nextTimestamp++, latitude: 1, longitude: 2, ...more };
}

function taken(accepted: number) {
  return {
    status: 200,
    body: {
      success: true,
      accepted,
      duplicates: 0,
      rejected: [],
      sequence: expect.any(Number),
    },
  };
}

function refused(status: number, message: string) {
  return { status, body: { success: false, message } };
}

const TOO_LARGE = refused(413, "the body must be at most 16 MiB, before and after decompression");
const WRONG_TYPE = refused(415, "content-type must be application/json or application/x-ndjson");
const TOO_MANY = refused(413, "at most 10,000 reports fit in one request");

/** Counts turns of the event loop. */
function countTurns() {
  let turns = 0;
  let next = setImmediate(count);
  function count(): void {
    turns++;
    next = setImmediate(count);
  }
  return {
    end() {
      clearImmediate(next);
      return turns;
    },
  };
}

const ndjson = (reports: readonly object[]) => reports.map((each) => `${JSON.stringify(each)}\n`).join("");

describe("a good body", () => {
  test("holds a list of reports, one report, or none", async () => {
    expect(await send(JSON.stringify({ locations: [report(), report()] }))).toEqual(taken(2));
    expect(await send(JSON.stringify(report()))).toEqual(taken(1));
    expect(await send(JSON.stringify({ locations: [] }))).toEqual(taken(0));
    expect(await send(JSON.stringify({ locations: [report()], sent_at: 5, device_id: 7 }))).toEqual(taken(1));
  });

  test("holds a report a line; blank lines and the last newline don't count", async () => {
    const type = NDJSON_TYPE;
    const [a, b] = [JSON.stringify(report()), JSON.stringify(report())];
    expect(await send(`${a}\n${b}\n`, { type })).toEqual(taken(2));
    expect(
      await send(`\n${JSON.stringify(report())}\r\n\r\n  \n${JSON.stringify(report())}`, { type }),
    ).toEqual(taken(2));
    expect(await send("\n\n", { type })).toEqual(taken(0));
  });

  test.each(["application/json; charset=utf-8", "Application/JSON", " application/json ;x=y"])(
    "may be called %p",
    async (type) => {
      expect(await send(JSON.stringify(report()), { type })).toEqual(taken(1));
    },
  );

  test("may be called application/x-ndjson with parameters", async () => {
    expect(await send(ndjson([report()]), { type: "Application/X-NDJSON; charset=utf-8" })).toEqual(taken(1));
  });

  test("may begin with a byte order mark", async () => {
    expect(await send(`\ufeff${JSON.stringify(report())}`)).toEqual(taken(1));
    expect(await send(`\ufeff${ndjson([report()])}`, { type: NDJSON_TYPE })).toEqual(taken(1));
  });

  test.each(["gzip", "GZIP", "zstd", "identity"])(
    "may be sent with Content-Encoding: %s",
    async (encoding) => {
      const pack = { gzip: gzipSync, zstd: zstdCompressSync }[encoding.toLowerCase()] ?? Buffer.from;
      const bytes = Buffer.from(JSON.stringify({ locations: [report(), report()] }));
      expect(await send(pack(bytes), { encoding })).toEqual(taken(2));
      expect(await send(pack(Buffer.from(ndjson([report()]))), { encoding, type: NDJSON_TYPE })).toEqual(
        taken(1),
      );
    },
  );

  test("may be packed in several frames or members, as streaming clients do", async () => {
    const [a, b] = [ndjson([report()]), ndjson([report(), report()])];
    for (const [encoding, pack] of [
      ["gzip", gzipSync],
      ["zstd", zstdCompressSync],
    ] as const) {
      const packed = [ndjson([report()]), ndjson([report(), report()])].map((text) => pack(text));
      expect(await send(Buffer.concat(packed), { encoding, type: NDJSON_TYPE })).toEqual(taken(3));
    }
    const skippable = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 7, 7]);
    const body = Buffer.concat([skippable, zstdCompressSync(a), skippable, zstdCompressSync(b)]);
    expect(await send(body, { encoding: "zstd", type: NDJSON_TYPE })).toEqual(taken(3));
  });

  test("may come in pieces of unknown length", async () => {
    const bytes = new TextEncoder().encode(JSON.stringify({ locations: [report(), report({ brand: "Ж" })] }));
    const pieces = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    expect(await send(pieces)).toEqual(taken(2));
  });
});

describe("a body is refused as a whole, with nothing stored,", () => {
  test.each([
    null,
    "",
    "text/plain",
    "application/xml",
    "application/jsonl",
    "application/x-ndjson2",
    "json",
    "text/json",
  ])("where its type is %p", async (type) => {
    const body = new TextEncoder().encode(JSON.stringify(report()));
    expect(await send(body, { type })).toEqual(WRONG_TYPE);
  });

  test("where it is a form", async () => {
    expect(await send(new URLSearchParams({ a: "b" }), { type: null })).toEqual(WRONG_TYPE);
    const form = new FormData();
    form.set("locations", "[]");
    expect(await send(form, { type: null })).toEqual(WRONG_TYPE);
  });

  test.each(["br", "deflate", "gzip, zstd", "x-gzip", "zip", "utf-8"])(
    "where its coding is %s",
    async (encoding) => {
      expect(await send(JSON.stringify(report()), { encoding })).toEqual(
        refused(415, `content-encoding must be gzip or zstd, or absent; "${encoding}" is not supported`),
      );
    },
  );

  test("where it is not what its coding says", async () => {
    const bytes = Buffer.from(JSON.stringify({ locations: Array.from({ length: 50 }, () => report()) }));
    const [gzipped, packed] = [gzipSync(bytes), zstdCompressSync(bytes)];
    const damaged = Buffer.from(gzipped);
    damaged[gzipped.length - 6]! ^= 1; // The checksum.
    for (const body of [
      bytes,
      Buffer.alloc(0),
      packed,
      gzipped.subarray(0, -20),
      gzipped.subarray(0, 5),
      damaged,
    ]) {
      expect(await send(body, { encoding: "gzip" })).toEqual(refused(400, "the body is not valid gzip"));
    }
    for (const body of [bytes, Buffer.alloc(0), gzipped, packed.subarray(0, -1), packed.subarray(0, 5)]) {
      expect(await send(body, { encoding: "zstd" })).toEqual(refused(400, "the body is not valid zstd"));
    }
  });

  test("where it is empty", async () => {
    for (const type of [JSON_TYPE, NDJSON_TYPE]) {
      expect(await send(null, { type })).toEqual(refused(400, "the body is empty"));
      expect(await send("", { type })).toEqual(refused(400, "the body is empty"));
      expect(await send(gzipSync(""), { type, encoding: "gzip" })).toEqual(refused(400, "the body is empty"));
    }
  });

  test.each([
    "{",
    "[",
    "nope",
    '{"locations":[}',
    "{} {}",
    "{'a':1}",
    '{"a":NaN}',
    "\u0000",
    " ",
    '{"a":1,}',
  ])("where it is no JSON: %p", async (body) => {
    expect(await send(body)).toEqual(refused(400, "the body is not valid JSON: it cannot be parsed"));
  });

  test.each(["[]", `[${JSON.stringify({ device_id: "bus" })}]`, `[${"{},".repeat(40_000)}{}]`])(
    "where it is a bare array, which says what is wanted: %#",
    async (body) => {
      expect(await send(body)).toEqual(
        refused(
          400,
          'the body is a bare array: wrap it as {"locations":[...]}, or send one report per line as application/x-ndjson',
        ),
      );
    },
  );

  test.each(["null", "true", "5", '"text"'])("where its JSON is no object: %s", async (body) => {
    expect(await send(body)).toEqual(refused(400, 'the body must be {"locations":[...]} or one report'));
  });

  test.each(['{"locations":{}}', '{"locations":null}', '{"locations":"x"}', '{"locations":5}'])(
    "where its locations are no list: %s",
    async (body) => {
      expect(await send(body)).toEqual(refused(400, "locations must be an array of reports"));
    },
  );

  test("where it is no UTF-8", async () => {
    const bytes = Buffer.from(
      JSON.stringify(report({ brand: "Xx" })).replace("Xx", "\u00ff\u00fe"),
      "latin1",
    );
    expect(await send(bytes)).toEqual(refused(400, "the body is not valid UTF-8"));
    const utf16 = Buffer.from(`\ufeff${JSON.stringify(report())}`, "utf16le");
    expect(await send(utf16)).toEqual(refused(400, "the body is not valid UTF-8"));
  });

  test("where it nests deeper than anyone needs", async () => {
    const depth = 100_000;
    for (const [open, close] of [
      ["[", "]"],
      ['{"a":', "}"],
    ] as const) {
      const nested = open.repeat(depth) + (open === "[" ? "" : "1") + close.repeat(depth);
      for (const body of [
        nested,
        open.repeat(depth),
        `{"locations":${nested}}`,
        `{"locations":[${nested}]}`,
      ]) {
        const { status } = await send(body);
        // Whether so deep a text can be read is the engine's business; the answer is a 400 or a rejected report.
        expect([200, 400]).toContain(status);
      }
      const member = JSON.stringify(report()).replace("{", `{"extra":${nested},`);
      expect([200, 400]).toContain((await send(member)).status);
    }
    expect(app.faults).toEqual([]);
    expect(await send(JSON.stringify(report()))).toEqual(taken(1));
  });
});

describe("sizes", () => {
  const padded = (bytes: number) => {
    const body = Buffer.alloc(bytes, " ");
    body.write(JSON.stringify(report()));
    return body;
  };
  const inPieces = (bytes: Buffer) =>
    new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < bytes.length; at += MIB) controller.enqueue(bytes.subarray(at, at + MIB));
        controller.close();
      },
    });

  test("16 MiB are taken, with and without a length, and packed", async () => {
    expect(await send(padded(BODY_BYTES_MAX), { declared: BODY_BYTES_MAX })).toEqual(taken(1));
    expect(await send(inPieces(padded(BODY_BYTES_MAX)))).toEqual(taken(1));
    expect(await send(gzipSync(padded(BODY_BYTES_MAX), { level: 1 }), { encoding: "gzip" })).toEqual(
      taken(1),
    );
    expect(await send(zstdCompressSync(padded(BODY_BYTES_MAX)), { encoding: "zstd" })).toEqual(taken(1));
  });

  test("a byte more is too large", async () => {
    const above = padded(BODY_BYTES_MAX + 1);
    expect(await send(above, { declared: above.length })).toEqual(TOO_LARGE);
    expect(await send(inPieces(above))).toEqual(TOO_LARGE);
    expect(await send(gzipSync(above, { level: 1 }), { encoding: "gzip" })).toEqual(TOO_LARGE);
    expect(await send(zstdCompressSync(above), { encoding: "zstd" })).toEqual(TOO_LARGE);
  });

  test("a length that is too large is refused before the body is read", async () => {
    let pulls = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulls++;
        controller.enqueue(new Uint8Array(MIB));
      },
    });
    expect(await send(endless, { declared: BODY_BYTES_MAX + 1 })).toEqual(TOO_LARGE);
    expect(pulls).toBeLessThan(3);
  });

  test("a body without end is cut off, plain or packed", async () => {
    const endless = () =>
      new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(new Uint8Array(MIB).fill(32)),
      });
    expect(await send(endless())).toEqual(TOO_LARGE);
    expect(await send(endless(), { encoding: "gzip" })).toEqual(TOO_LARGE);
  });

  test("a bomb of a few kilobytes is not unpacked", async () => {
    const zeros = Buffer.alloc(256 * MIB);
    const bomb = zstdCompressSync(zeros);
    expect(bomb.length).toBeLessThan(100_000);
    const before = process.memoryUsage.rss();
    expect(await send(bomb, { encoding: "zstd" })).toEqual(TOO_LARGE);
    expect(await send(gzipSync(zeros.subarray(0, 64 * MIB), { level: 1 }), { encoding: "gzip" })).toEqual(
      TOO_LARGE,
    );
    expect(process.memoryUsage.rss() - before).toBeLessThan(150 * MIB);
  });

  test("a body of nothing but frames is not worth unpacking", async () => {
    const empty = zstdCompressSync("");
    const body = Buffer.concat(new Array(1_000_000).fill(empty));
    const turns = countTurns();
    expect(await send(body, { encoding: "zstd" })).toEqual(refused(400, "the body is not valid zstd"));
    // One for each 64 KiB to count frames; each frame that is unpacked takes several.
    expect(turns.end()).toBeLessThan(1000);
    const some = [...new Array(900).fill(empty), zstdCompressSync(JSON.stringify(report()))];
    expect(await send(Buffer.concat(some), { encoding: "zstd" })).toEqual(taken(1));
  });

  test("10,000 reports are taken, one more is not", async () => {
    const many = Array.from({ length: 10_000 }, () => report());
    expect(await send(JSON.stringify({ locations: many }))).toEqual(taken(10_000));
    const lines = Array.from({ length: 10_000 }, () => report());
    expect(await send(`\n\n${ndjson(lines)}\n\n`, { type: NDJSON_TYPE })).toEqual(taken(10_000));
    const more = Array.from({ length: 10_001 }, () => report({ device_id: "surplus" }));
    expect(await send(JSON.stringify({ locations: more }))).toEqual(TOO_MANY);
    expect(await send(ndjson(more), { type: NDJSON_TYPE })).toEqual(TOO_MANY);
    expect((await app.get("/api/v1/devices/surplus/locations/current")).status).toBe(404);
  });

  test("of millions of lines no more are looked at than are taken, whatever is on them", async () => {
    const newlines = Buffer.alloc(BODY_BYTES_MAX, "\n");
    using lineEnds = jest.spyOn(Uint8Array.prototype, "indexOf");
    using parsed = jest.spyOn(JSON, "parse");
    expect(await send(newlines, { type: NDJSON_TYPE })).toEqual(taken(0));
    newlines[newlines.length - 1] = 0xff;
    expect((await send(newlines, { type: NDJSON_TYPE })).status).toBe(200);
    expect(lineEnds).toHaveBeenCalledTimes(1);
    expect(await send(Buffer.alloc(BODY_BYTES_MAX, "[\n"), { type: NDJSON_TYPE })).toEqual(TOO_MANY);
    expect(await send(Buffer.alloc(BODY_BYTES_MAX, "\xff\n", "latin1"), { type: NDJSON_TYPE })).toEqual(
      TOO_MANY,
    );
    expect(lineEnds).toHaveBeenCalledTimes(1 + 2 * 10_001);
    expect(parsed).not.toHaveBeenCalled();
  });
});
