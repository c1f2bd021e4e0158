import { expect, test } from "bun:test";
import type { BodyShare } from "../../../../src/http/body/body-budget.ts";
import { BodyReader } from "../../../../src/http/body/body-reader.ts";

const SHARE: BodyShare = {
  owner: { appId: "fleet", keyId: "k" },
  arrivalMsMax: 60_000,
  whenLate: () => () => {},
  take: () => true,
  whole: () => null,
  end: () => {},
};
const PIECE_BYTES = 256 * 1024;
const PIECES = 32;
const BODIES = 8;
/** What is moved of a body of 8 MiB beyond the first: twice as much each time. */
const MOVES = 3;

/** A body whose every piece is there as soon as it is asked for. */
function sendAtOnce(): Request {
  let left = PIECES;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (left-- > 0) controller.enqueue(new Uint8Array(PIECE_BYTES).fill(left));
      else controller.close();
    },
  });
  return new Request("http://localhost/", { method: "POST", body });
}

test("BodyReader moves one large body in a turn of the event loop, however many grow together", async () => {
  let turns = 0;
  const count = () => {
    turns++;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  const reader = new BodyReader();
  const bodies = await Promise.all(Array.from({ length: BODIES }, () => reader.read(sendAtOnce(), SHARE)));
  clearImmediate(timer);
  for (const body of bodies) {
    if (!body.ok) throw new Error(body.error.kind);
    expect(body.value.length).toBe(PIECES * PIECE_BYTES);
    for (let piece = 0; piece < PIECES; piece++) {
      const expected = PIECES - 1 - piece;
      expect([body.value[piece * PIECE_BYTES], body.value[(piece + 1) * PIECE_BYTES - 1]]).toEqual([
        expected,
        expected,
      ]);
    }
  }
  expect(turns).toBeGreaterThanOrEqual(BODIES * MOVES);
});

test("BodyReader takes one small piece of a body in a turn of the event loop", async () => {
  const pieces = 100;
  let taken = 0;
  let most = 0;
  const count = () => {
    most = Math.max(most, taken);
    taken = 0;
    timer = setImmediate(count);
  };
  let timer = setImmediate(count);
  const sendSlowly = () => {
    let left = pieces;
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      taken++;
      if (left-- > 0) controller.enqueue(new Uint8Array(1));
      else controller.close();
    };
    return new Request("http://localhost/", { method: "POST", body: new ReadableStream({ pull }) });
  };
  const reader = new BodyReader();
  const bodies = await Promise.all(Array.from({ length: BODIES }, () => reader.read(sendSlowly(), SHARE)));
  clearImmediate(timer);
  for (const body of bodies) expect(body.ok && body.value.length).toBe(pieces);
  expect(most).toBeLessThanOrEqual(3 * BODIES); // A stream asks for two more than were read.
});
