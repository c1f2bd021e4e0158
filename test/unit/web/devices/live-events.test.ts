import { expect, test } from "bun:test";
import { ApiError } from "../../../../src/web/api/api-error.ts";
import { Retries } from "../../../../src/web/api/retries.ts";
import { LiveEvents } from "../../../../src/web/devices/live-events.ts";
import type { FenceEvent } from "../../../../src/web/fences/fence.ts";
import { VirtualTime } from "../../../support/stream/virtual-time.ts";
import { turns } from "../../../support/turns.ts";

const PAUSE_MS = 1000;

function setUp() {
  const time = new VirtualTime();
  /** The connections, in order. */
  const asked: {
    readonly lastId: string | null;
    readonly signal: AbortSignal;
    send(text: string): void;
    end(): void;
  }[] = [];
  let refusal: ApiError | null = null;
  const live = new LiveEvents({
    retries: new Retries(() => PAUSE_MS, time),
    timers: time,
    fetch: async (_path, { headers, signal }) => {
      if (refusal !== null) throw refusal;
      let sink: ReadableStreamDefaultController<Uint8Array>;
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          sink = controller;
        },
      });
      const lastId = (headers as Record<string, string>)["last-event-id"] ?? null;
      asked.push({
        ...{ lastId, signal: signal! },
        send: (text) => sink.enqueue(new TextEncoder().encode(text)),
        end: () => sink.close(),
      });
      return new Response(body);
    },
  });
  const refuse = (error: ApiError | null) => {
    refusal = error;
  };
  return { live, asked, time, refuse };
}

const message = (id: number, ...ids: readonly string[]) =>
  `id: ${id}\ndata: ${JSON.stringify({ events: ids.map((each) => ({ id: each })) })}\n\n`;

test("one connection serves all followers, and ends with the last of them", async () => {
  const { live, asked } = setUp();
  const heard: (string | undefined)[][] = [[], []];
  const listen = (at: number) => (events: readonly FenceEvent[] | null) =>
    heard[at]!.push(...(events ?? []).map(({ id }) => id));
  const [first, second] = [live.follow(listen(0)), live.follow(listen(1))];
  await turns();
  expect(asked).toHaveLength(1);
  asked[0]!.send(message(1) + message(2, "a"));
  await turns();
  first();
  asked[0]!.send(message(3, "b", "c"));
  await turns();
  expect(heard).toEqual([["a"], ["a", "b", "c"]]);
  expect(asked[0]!.signal.aborted).toBeFalse();
  second();
  expect(asked[0]!.signal.aborted).toBeTrue();
  live.follow(listen(0));
  await turns();
  expect(asked[1]!.lastId).toBeNull(); // A new follower loads its list by itself.
});

test("a lost connection continues after the last event; a reset tells followers that events may be missing", async () => {
  const { live, asked, time } = setUp();
  const heard: unknown[] = [];
  live.follow((events) => heard.push(events?.map(({ id }) => id) ?? null));
  await turns();
  asked[0]!.send(message(7, "a"));
  await turns();
  asked[0]!.end();
  await turns();
  await time.pass(PAUSE_MS);
  await turns();
  expect(asked.map(({ lastId }) => lastId)).toEqual([null, "7"]);
  asked[1]!.send(`event: reset\nid: 1\ndata: {}\n\n${message(2, "b")}`);
  await turns();
  expect(heard).toEqual([["a"], null, ["b"]]);
  live.sleep();
  expect(asked[1]!.signal.aborted).toBeTrue();
  live.wake();
  await turns();
  expect(asked[2]!.lastId).toBe("2");
});

test("after a refusal no request is sent until the page is visible again", async () => {
  const { live, asked, time, refuse } = setUp();
  refuse(new ApiError(403, "the key may not", { isOurs: true }));
  live.follow(() => undefined);
  await turns();
  refuse(null);
  await time.pass(60 * PAUSE_MS);
  expect(asked).toHaveLength(0);
  live.wake();
  await turns();
  expect(asked).toHaveLength(1);
});
