import { expect, test } from "bun:test";
import { BATCH_FORMAT, type FromUploadReader } from "../../../../src/import/upload/messages.ts";
import { READ_MS_MAX, START_MS_MAX, UploadProcess } from "../../../../src/import/upload/upload-process.ts";
import type { Timers } from "../../../../src/lib/schedule/timers.ts";
import type { StartHelper } from "../../../../src/runtime/helper/helper.ts";

/* A process that hangs is ended, and what waits for it is told when to come back. */

const SETTINGS = {
  ...{ format: null, deviceId: null, userId: null, zone: null },
  times: { oldestMs: 0, newestMs: 1e15 },
};

/** A helper whose answers the test sends, and timers whose time it moves. */
function createStage() {
  let nowMs = 0;
  const due = new Map<() => void, number>();
  const timers: Timers = {
    nowMs: () => nowMs,
    after(ms, call) {
      due.set(call, nowMs + ms);
      return () => void due.delete(call);
    },
  };
  const sent: unknown[] = [];
  let answer: (message: FromUploadReader) => void = () => {};
  let ends = 0;
  const start: StartHelper = (_script, { onMessage, onEnd }) => {
    answer = onMessage;
    return {
      send: (message) => void sent.push(message),
      end() {
        ends++;
        onEnd("SIGKILL");
      },
    };
  };
  return {
    process: new UploadProcess(start, timers),
    sent,
    answer: (message: FromUploadReader) => answer(message),
    get ends() {
      return ends;
    },
    get waiting() {
      return due.size;
    },
    advance(ms: number) {
      nowMs += ms;
      for (const [call, atMs] of due) if (atMs <= nowMs) call();
    },
  };
}

test("UploadProcess gives up a process that does not start", async () => {
  const stage = createStage();
  const surveyed = stage.process.survey(new Uint8Array(3), SETTINGS);
  stage.advance(START_MS_MAX);
  expect(await surveyed).toMatchObject({ ok: false, error: { kind: "unavailable", retryAfterSeconds: 30 } });
  expect(stage.ends).toBe(1);
  await stage.process.gone;
});

test("UploadProcess gives up a process that reads for too long, over all its questions", async () => {
  const stage = createStage();
  const surveyed = stage.process.survey(new Uint8Array(600_000), SETTINGS);
  stage.answer({ kind: "ready", format: BATCH_FORMAT });
  while (!stage.sent.some((message) => (message as { kind: string }).kind === "survey"))
    await new Promise((done) => setImmediate(done));
  expect(stage.sent.map((message) => (message as { kind: string }).kind)).toEqual([
    ...["open", "piece", "piece", "piece", "survey"],
  ]);
  stage.advance(READ_MS_MAX - 1);
  stage.answer({ kind: "surveyed", result: { ok: false, error: { kind: "entry_not_found" } } });
  await surveyed;
  const next = stage.process.next();
  stage.advance(1);
  expect(await next).toMatchObject({
    ok: false,
    error: { kind: "unavailable", message: expect.stringContaining("longer than 10 s") },
  });
  expect([stage.ends, stage.waiting]).toEqual([1, 0]);
});

test("UploadProcess refuses a process of another version", async () => {
  const stage = createStage();
  const surveyed = stage.process.survey(new Uint8Array(3), SETTINGS);
  stage.answer({ kind: "ready", format: "latitude" });
  expect(await surveyed).toMatchObject({ ok: false, error: { kind: "unavailable" } });
  expect([stage.sent, stage.ends]).toEqual([[], 1]);
});
