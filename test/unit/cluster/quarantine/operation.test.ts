import { expect, test } from "bun:test";
import { ENTRY_LENGTH_BYTES } from "../../../../src/cluster/log/group-message.ts";
import {
  decodeOperation,
  encodeOperation,
  type Operation,
} from "../../../../src/cluster/quarantine/operation.ts";
import {
  decodePart,
  encodePart,
  PART_OVERHEAD_BYTES,
  Reassembly,
} from "../../../../src/cluster/quarantine/parts.ts";
import { viewsOf } from "../../../../src/lib/frames/views.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import { prepare } from "../../../../src/service/quarantine/put-queue.ts";
import * as fc from "../../../support/fast-check.ts";
import { refused } from "../../service/quarantine/fixture.ts";

const SOURCES = ["0123456789abcdef", "ffffffffffffffff"];

async function putOf(...contents: readonly Uint8Array[]): Promise<Operation> {
  const messages = contents.map((body, index) => refused("x", { body, index, user: "Änna", query: "a=%00" }));
  return { kind: "put", entries: await new Scheduler().run("app", prepare(messages)) };
}

/** As it comes out of a message. */
function partOf(operation: Uint8Array, start: number, end: number, source: string, number: number) {
  const frame = encodePart(operation, start, end, { source, number });
  return decodePart(viewsOf(frame), { start: ENTRY_LENGTH_BYTES, end: frame.length, sequence: 1 })!;
}

/** Cuts into parts of the given size. */
function partsOf(operation: Uint8Array, step: number, source: string, number: number) {
  const parts = [];
  for (let start = 0; start < operation.length; start += step)
    parts.push(partOf(operation, start, Math.min(operation.length, start + step), source, number));
  return parts;
}

test("an operation comes back as it was, whatever was sent", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 5 }),
      async (contents) => {
        const put = await putOf(...contents);
        expect(decodeOperation(encodeOperation(put))).toEqual(put);
      },
    ),
  );
  const others: Operation[] = [
    { kind: "delete", appId: "app" as AppId, ids: ["a", "\"']}"] },
    { kind: "again", arrivals: [{ appId: "app" as AppId, id: "a", count: 3, lastArrivedMs: 1.5 }] },
  ];
  for (const operation of others) expect(decodeOperation(encodeOperation(operation))).toEqual(operation);
});

test("bytes that are no operation are none, and nothing is thrown", async () => {
  const sound = encodeOperation(await putOf(new Uint8Array(40), new Uint8Array(9)));
  for (let length = 0; length < sound.length; length++) {
    const decoded = decodeOperation(sound.slice(0, length));
    expect(decoded === null || (decoded.kind === "put" && decoded.entries.length === 1)).toBe(true);
  }
  for (let at = 0; at < 64; at++) {
    const damaged = sound.slice();
    damaged[at]! ^= 0xff;
    decodeOperation(damaged);
  }
  const json = (code: number, text: string) =>
    new Uint8Array([code, 0, 0, 0, 0, 0, 0, 0, ...new TextEncoder().encode(text)]);
  for (const text of ["", "7", "null", "{", "{}", '{"appId":1,"ids":[]}', '{"appId":"a","ids":[1]}'])
    expect(decodeOperation(json(2, text))).toBeNull();
  for (const text of ["{}", '{"arrivals":[{}]}', '{"arrivals":[null]}', '{"arrivals":7}'])
    expect(decodeOperation(json(3, text))).toBeNull();
  expect(decodeOperation(json(4, "{}"))).toBeNull();
});

test("parts of any size are reassembled, also if those of two nodes alternate", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 300, maxLength: 900 }),
      fc.integer({ min: 8, max: 299 }),
      (body, step) => {
        const reassembly = new Reassembly();
        const sent = SOURCES.map((source) => partsOf(body, step, source, 1));
        const wholes = sent[0]!.flatMap((_, index) =>
          sent.map((parts) => reassembly.add(index + 1, parts[index]!)),
        );
        expect(wholes.slice(0, -2).every((whole) => whole === "incomplete")).toBe(true);
        expect(wholes.slice(-2)).toEqual([body, body]);
        expect(reassembly.firstMessage).toBeNull();
      },
    ),
  );
});

test("an operation that was given up is forgotten by the next of its source, and never mixed with it", () => {
  const reassembly = new Reassembly();
  const [first, second] = [new Uint8Array(100).fill(1), new Uint8Array(100).fill(2)];
  const [a, b, c] = partsOf(first, 40, SOURCES[0]!, 1);
  const [d, e, f] = partsOf(second, 40, SOURCES[0]!, 2);
  expect(reassembly.add(10, a!)).toBe("incomplete");
  expect(reassembly.firstMessage).toBe(10);
  expect(reassembly.add(11, d!)).toBe("incomplete");
  expect(reassembly.firstMessage).toBe(11);
  // Late, and of the former one.
  for (const late of [b!, c!, a!]) expect(reassembly.add(12, late)).toBe("abandoned");
  expect(reassembly.add(13, e!)).toBe("incomplete");
  expect(reassembly.add(14, e!)).toBe("abandoned"); // It came twice.
  expect(reassembly.add(15, f!)).toEqual(second);
});

test("an operation without another part is forgotten after a while, and so is the oldest of too many", () => {
  const reassembly = new Reassembly();
  const [a, b] = partsOf(new Uint8Array(80), 40, SOURCES[0]!, 1);
  reassembly.add(1, a!);
  reassembly.add(4097, partOf(new Uint8Array(8), 0, 8, SOURCES[1]!, 1));
  expect(reassembly.firstMessage).toBe(1);
  reassembly.add(4098, partOf(new Uint8Array(8), 0, 8, SOURCES[1]!, 2));
  expect(reassembly.firstMessage).toBeNull();
  expect(reassembly.add(4099, b!)).toBe("abandoned");
  for (let source = 1; source <= 9; source++)
    reassembly.add(5000 + source, partOf(new Uint8Array(80), 0, 40, `${source}`.padStart(16, "0"), 1));
  expect(reassembly.firstMessage).toBe(5002);
});

test("a body that looks like a part, or like a message, is a body", async () => {
  const inner = encodePart(new Uint8Array(64), 0, 64, { source: SOURCES[1]!, number: 9 });
  const body = new Uint8Array(inner.length * 3);
  for (let at = 0; at < 3; at++) body.set(inner, at * inner.length);
  const bytes = encodeOperation(await putOf(body));
  const reassembly = new Reassembly();
  const step = inner.length; // So that parts begin with what looks like one.
  let whole: unknown;
  for (const part of partsOf(bytes, step, SOURCES[0]!, 1)) {
    expect([part.source, part.number]).toEqual([SOURCES[0]!, 1]);
    whole = reassembly.add(1, part);
  }
  const decoded = decodeOperation(whole as Uint8Array);
  expect(decoded?.kind === "put" && decoded.entries.map(({ message }) => message.body)).toEqual([body]);
});

test("decodePart() takes no part that says more than it has, or that is too long", () => {
  const frame = encodePart(new Uint8Array(100), 40, 80, { source: SOURCES[0]!, number: 1 });
  const range = { start: ENTRY_LENGTH_BYTES, end: frame.length, sequence: 1 };
  expect(decodePart(viewsOf(frame), range)).not.toBeNull();
  expect(frame.length).toBe(PART_OVERHEAD_BYTES + 40);
  expect(decodePart(viewsOf(frame), { ...range, end: frame.length - 8 })).toBeNull();
  for (const [offset, value] of [
    [12, 79],
    [12, 2 ** 31],
    [16, 61],
    [20, 0],
    [20, 41],
    [20, 32],
  ] as const) {
    const changed = frame.slice();
    new DataView(changed.buffer).setUint32(ENTRY_LENGTH_BYTES + offset, value, true);
    expect(decodePart(viewsOf(changed), range)).toBeNull();
  }
});
