import { expect, test } from "bun:test";
import { readShortObject, SHORT_BODY_BYTES_MAX } from "../../../../src/http/body/short-body.ts";
import type { Timers } from "../../../../src/lib/schedule/timers.ts";
import { VirtualTime } from "../../../support/stream/virtual-time.ts";

const JSON_TYPE = { "content-type": "application/json; charset=utf-8" };

function requestWith(body: BodyInit | null, headers: Readonly<Record<string, string>> = JSON_TYPE): Request {
  return new Request("http://localhost/map/session", { method: "POST", headers, body });
}

/** A body that comes in these pieces, and then ends, breaks off or says no more. */
function bodyOf(pieces: readonly string[], then: "ends" | "breaks" | "hangs" = "ends") {
  const seen = { pulled: 0, cancelled: false };
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = pieces[seen.pulled++];
        if (piece !== undefined) controller.enqueue(new TextEncoder().encode(piece));
        else if (then === "ends") controller.close();
        else if (then === "breaks") controller.error(new Error("gone"));
        else return new Promise(() => undefined);
      },
      cancel() {
        seen.cancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { seen, body };
}

async function messageOf(request: Request, timers?: Timers): Promise<string> {
  const read = await readShortObject(request, timers === undefined ? {} : { timers });
  return read.ok || !("message" in read.error) ? "none" : read.error.message;
}

const NO_OBJECT = "the body must be a JSON object";
const TOO_LARGE = "the body must be at most 8 KiB";
const INCOMPLETE = "the body ended before it was complete, or took too long to arrive";

test("readShortObject() reads an object, in however many pieces", async () => {
  expect(await readShortObject(requestWith('{"key":"ü"}'))).toEqual({ ok: true, value: { key: "ü" } });
  const { body } = bodyOf(['{"k', 'ey":', "1}"]);
  expect(await readShortObject(requestWith(body))).toEqual({ ok: true, value: { key: 1 } });
});

test("readShortObject() takes no other type, and nothing but an object", async () => {
  const text = "content-type must be application/json";
  expect(await messageOf(requestWith("{}", { "content-type": "text/plain" }))).toBe(text);
  expect(await messageOf(requestWith("{}", { "content-type": "application/jsonp" }))).toBe(text);
  const others = [null, "", "[]", "1", "null", "{", new Uint8Array([0x7b, 0xff, 0x7d])];
  for (const other of others) expect(await messageOf(requestWith(other))).toBe(NO_OBJECT);
});

test("readShortObject() stops at 8 KiB, whether the length is announced or not", async () => {
  const exact = `{"a":"${"x".repeat(SHORT_BODY_BYTES_MAX - 8)}"}`;
  expect((await readShortObject(requestWith(exact))).ok).toBe(true);
  expect(await messageOf(requestWith(`${exact} `))).toBe(TOO_LARGE);
  const { seen, body } = bodyOf(Array.from({ length: 1000 }, () => " ".repeat(1000)));
  expect(await messageOf(requestWith(body))).toBe(TOO_LARGE);
  expect([seen.pulled < 12, seen.cancelled]).toEqual([true, true]);
  const announced = requestWith(bodyOf([]).body, { ...JSON_TYPE, "content-length": "9000" });
  expect(await messageOf(announced)).toBe(TOO_LARGE);
});

test("readShortObject() gives up on a body that breaks off or doesn't come in time", async () => {
  expect(await messageOf(requestWith(bodyOf(["{"], "breaks").body))).toBe(INCOMPLETE);
  const { seen, body } = bodyOf(["{"], "hangs");
  const time = new VirtualTime();
  const message = messageOf(requestWith(body), time);
  await time.pass(9999);
  expect(seen.cancelled).toBe(false);
  await time.pass(1);
  expect(await message).toBe(INCOMPLETE);
  expect(seen.cancelled).toBe(true);
});
