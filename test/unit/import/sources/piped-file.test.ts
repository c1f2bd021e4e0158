import { expect, test } from "bun:test";
import { createPipedFile } from "../../../../src/import/sources/piped-file.ts";
import type { Inputs, Spool } from "../../../../src/runtime/inputs.ts";
import * as fc from "../../../support/fast-check.ts";
import { outcome } from "../../../support/rejection.ts";
import { turns } from "../../../support/turns.ts";

/*
 * Goal: what comes through a pipe once is the same for every reading, also for those that go on side by side or are
 * given up while they wait. Method: a pipe and a disk in memory that take their time, read by several at random.
 */

const UNENDING = new AbortController().signal;

function slowSpool(): Spool & { isClosed: boolean } {
  let kept = Buffer.alloc(0);
  return {
    isClosed: false,
    get sizeBytes() {
      return kept.length;
    },
    path: "",
    async append(piece) {
      const position = kept.length;
      await turns(1);
      const end = Math.max(kept.length, position + piece.length);
      kept = Buffer.concat([kept, Buffer.alloc(end - kept.length)]);
      kept.set(piece, position);
    },
    async read(into, position) {
      await turns(1);
      return kept.copy(into, 0, position);
    },
    async close() {
      this.isClosed = true;
    },
  };
}

function slowInputs(content: Buffer, pieceBytes: number, spool: Spool): Inputs {
  async function* stream() {
    for (let at = 0; at < content.length; at += pieceBytes) {
      await turns(1);
      yield content.subarray(at, at + pieceBytes);
    }
  }
  return { stream, openSpool: async () => spool } as Partial<Inputs> as Inputs;
}

test("every reading of a pipe gives the same, however many there are at a time", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 40 }),
      fc.integer({ min: 1, max: 7 }),
      fc.array(fc.nat({ max: 6 }), { minLength: 1, maxLength: 4 }),
      async (bytes, pieceBytes, givenUpAfter) => {
        const content = Buffer.from(Array.from({ length: bytes }, (_, index) => index));
        const spool = slowSpool();
        const file = createPipedFile(slowInputs(content, pieceBytes, spool), "-", "x", UNENDING);
        for (const pieces of givenUpAfter) {
          const reading = file.pieces()[Symbol.asyncIterator]();
          for (let piece = 0; piece < pieces; piece++) await reading.next();
          void reading.next(); // Still under way when the next begins.
          void reading.return?.();
        }
        const whole: Uint8Array[] = [];
        for await (const piece of file.pieces()) whole.push(piece);
        expect(Buffer.concat(whole)).toEqual(content);
        const random = await file.openRandom();
        const read = Buffer.alloc(bytes);
        expect(await random.read(read, 0)).toBe(bytes);
        expect([random.sizeBytes, read]).toEqual([bytes, content]);
        await file.close();
        expect(spool.isClosed).toBe(true);
      },
    ),
    { numRuns: 60 },
  );
});

test("a silent pipe holds up nobody who closes it", async () => {
  const spool = slowSpool();
  async function* stream(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("some");
    await new Promise(() => {});
  }
  const file = createPipedFile({ ...slowInputs(Buffer.alloc(0), 1, spool), stream }, "-", "x", UNENDING);
  const reading = file.pieces()[Symbol.asyncIterator]();
  expect((await reading.next()).value).toEqual(Buffer.from("some"));
  void reading.next();
  await file.close();
  expect(spool.isClosed).toBe(true);
});

test("an import that is to end waits for no silent pipe, and takes nothing of it for whole", async () => {
  async function* stream(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("some");
    await new Promise(() => {});
  }
  const controller = new AbortController();
  const inputs = { ...slowInputs(Buffer.alloc(0), 1, slowSpool()), stream };
  const file = createPipedFile(inputs, "-", "x", controller.signal);
  const reading = file.pieces()[Symbol.asyncIterator]();
  await reading.next();
  const more = reading.next();
  controller.abort();
  expect(await outcome(more)).toThrow("interrupted");
  expect(await outcome(file.openRandom())).toThrow("interrupted");
  await file.close();
});
