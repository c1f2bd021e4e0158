import { expect, test } from "bun:test";
import type { WatchEvent } from "../../../../src/geofences/watch.ts";
import { Arrivals, piecesOf } from "../../../../src/http/endpoints/geofences/answer-preview.ts";
import { fail, ok } from "../../../../src/lib/result.ts";
import type { PreviewFence } from "../../../../src/service/geofences/preview.ts";
import { rejection } from "../../../support/rejection.ts";
import { VirtualTime } from "../../../support/stream/virtual-time.ts";

const EVENT = {
  ...{ id: "1", kind: "enter", timestampMs: 5, deviceId: "van", userId: "ada", watchId: "preview" },
  ...{ version: 1, visitId: "1", ending: null, dueMs: 0 },
} as unknown as WatchEvent;

function open() {
  const time = new VirtualTime();
  const arrivals = new Arrivals();
  const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<PreviewFence>>>();
  const pieces = piecesOf(arrivals, promise, { offset: 0, limit: 10 }, time)[Symbol.asyncIterator]();
  const next = async () => {
    const { done, value } = await pieces.next();
    return done === true ? null : new TextDecoder().decode(value);
  };
  const end = (outcome: Awaited<ReturnType<PreviewFence>>) => {
    resolve(outcome);
    arrivals.end();
  };
  return { time, arrivals, end, next };
}

test("a preview sends blanks while it has nothing to say, which leave its JSON as it is", async () => {
  const { time, arrivals, end, next } = open();
  let text = (await next())!;
  const silent = next();
  await time.pass(20_000);
  text += await silent;
  expect(text.endsWith("[ ")).toBeTrue();
  arrivals.add([EVENT]);
  text += await next();
  const later = next();
  await time.pass(20_000);
  text += await later;
  arrivals.add([{ ...EVENT, timestampMs: 6 }]);
  end(ok({ total: 12, isIncomplete: true }));
  for (let piece = await next(); piece !== null; piece = await next()) text += piece;
  expect(JSON.parse(text)).toMatchObject({
    ...{ success: true, incomplete: true },
    events: [{ timestamp: 5 }, { timestamp: 6 }],
    pagination: { count: 2, has_more: true, total_count: 12, offset: 0, limit: 10 },
  });
});

test("a preview that fails after its first events breaks off", async () => {
  const { arrivals, end, next } = open();
  await next();
  arrivals.add([EVENT]);
  await next();
  end(fail({ kind: "invalid_parameter", message: "too much" }));
  expect(String(await rejection(next()))).toContain("too many events");
});
