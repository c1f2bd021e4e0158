import { gunzipSync, gzipSync, zstdCompressSync } from "node:zlib";
import { createBodyBudget } from "../../../../src/http/body/body-budget.ts";
import { BODY_BYTES_MAX, BodyReader } from "../../../../src/http/body/body-reader.ts";
import { unzstd } from "../../../../src/lib/bytes/unzstd.ts";
import { createDraw, type Draw } from "../support/inputs/draw.ts";
import { pieces } from "../support/inputs/pieces.ts";
import { must, mustEqual, type Target } from "../support/target.ts";

/*
 * Packed bodies and files. What was packed comes out; what was changed since comes out the same, or is refused, and
 * takes no more memory than its share.
 */

const encoder = new TextEncoder();
const CODINGS = ["gzip", "zstd"] as const;
type Coding = (typeof CODINGS)[number];
const FAULTS = ["body_unreadable", "body_too_large", "unavailable"];
const BUDGET_BYTES = 4 * BODY_BYTES_MAX;

export const packedBodies: Target = {
  name: "packed",
  bytesMax: 16_384,
  seeds: () => [
    Uint8Array.from([0, 0, ...gzipSync('{"device_id":"bus-1"}')]),
    Uint8Array.from([1, 0, ...zstdCompressSync('{"device_id":"bus-1"}')]),
    Uint8Array.from([1, 0, ...zstdCompressSync(REPORTS.slice(0, 100_000))]),
  ],
  async check(input) {
    const draw = createDraw(input);
    const coding = draw.pick(CODINGS);
    if (draw.chance(2)) {
      const texts = draw.list(3, () => textOf(draw));
      const packed = packedOf(draw, coding, ["", ...texts]);
      await mustUnpackTo(draw, coding, packed, encoder.encode(texts.join("")));
      await mustBeSane(draw, coding, damaged(draw, packed));
    } else {
      await mustBeSane(draw, coding, draw.rest());
    }
  },
};

/** Packed in members or frames of their own, some of zstd's between that mean nothing. */
function packedOf(draw: Draw, coding: Coding, texts: readonly string[]): Uint8Array {
  const parts = texts.map((text) => (coding === "gzip" ? gzipSync(text) : zstdCompressSync(text)));
  if (coding === "zstd" && draw.chance(3)) parts.push(Buffer.concat([skippable(draw), zstdCompressSync("")]));
  return Buffer.concat(parts);
}

function skippable(draw: Draw): Buffer {
  const bytes = draw.bytes(20);
  return Buffer.from([0x50 + draw.upTo(15), 0x2a, 0x4d, 0x18, bytes.length, 0, 0, 0, ...bytes]);
}

/** Reports as clients send them: several blocks that are well worth packing. */
const REPORTS = Array.from(
  { length: 4000 },
  (_, i) => `{"device_id":"bus-${i % 97}","latitude":${i % 89}.${i}}\n`,
).join("");

function textOf(draw: Draw): string {
  if (draw.chance(6)) return REPORTS.slice(0, draw.upTo(REPORTS.length));
  return draw.text(100).repeat(draw.pick([1, 50]));
}

function damaged(draw: Draw, packed: Uint8Array): Uint8Array {
  const bytes = Uint8Array.from(
    packed.subarray(0, draw.chance(4) ? draw.upTo(packed.length) : packed.length),
  );
  for (let changes = draw.upTo(20); changes > 0 && bytes.length > 0; changes--) {
    bytes[draw.upTo(bytes.length - 1)] = draw.upTo(255);
  }
  return bytes;
}

async function mustUnpackTo(draw: Draw, coding: Coding, packed: Uint8Array, text: Uint8Array): Promise<void> {
  const body = await unpackedBody(draw, coding, packed);
  must(body.ok && Buffer.compare(body.value, text) === 0, "a packed body gives its text back", () => [
    coding,
    body.ok,
  ]);
  if (coding !== "zstd") return;
  const file = await unpackedFile(draw, packed);
  must(file !== null && Buffer.compare(file, text) === 0, "a packed file gives its text back");
}

async function mustBeSane(draw: Draw, coding: Coding, packed: Uint8Array): Promise<void> {
  const body = await unpackedBody(draw, coding, packed);
  if (!body.ok) must(FAULTS.includes(body.error.kind), "a fault is one of the body", () => body);
  if (coding === "zstd") {
    const file = await unpackedFile(draw, packed);
    if (body.ok)
      must(file !== null && Buffer.compare(file, body.value) === 0, "body and file are unpacked alike");
  } else if (body.ok) {
    must(Buffer.compare(gunzipSync(packed), body.value) === 0, "a body is what gunzip makes of it");
  }
}

async function unpackedBody(draw: Draw, coding: Coding, packed: Uint8Array) {
  const budget = createBodyBudget({
    requestsMax: 1,
    bytesMax: BUDGET_BYTES,
    expectedBytesMax: BUDGET_BYTES,
    arrivalMsMax: 60_000,
  });
  const share = budget.begin({ appId: "fuzz", keyId: "fuzz" })!;
  const request = new Request("http://127.0.0.1/", {
    method: "POST",
    headers: { "content-encoding": coding },
    body: streamOf(pieces(draw, packed)),
    duplex: "half",
  } as RequestInit);
  const body = await new BodyReader().read(request, share);
  share.end();
  mustEqual(budget.bytes, 0, "a body that ended holds nothing of the budget");
  return body;
}

function streamOf(all: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const piece of all) controller.enqueue(piece);
      controller.close();
    },
  });
}

/** The text of a zstd file; null where it is none. */
async function unpackedFile(draw: Draw, packed: Uint8Array): Promise<Uint8Array | null> {
  async function* read() {
    yield* pieces(draw, packed);
  }
  const parts: Uint8Array[] = [];
  try {
    for await (const part of unzstd(read(), { framesMax: 1000, blocksMax: 20_000 })) parts.push(part);
  } catch {
    return null;
  }
  return Buffer.concat(parts);
}
