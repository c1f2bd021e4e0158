import { beforeEach, describe, expect, test } from "bun:test";
import { View } from "../../../../src/auth/view.ts";
import { streamOf } from "../../../../src/http/answer/piecewise.ts";
import { AnswerBuffer } from "../../../../src/http/encode/answer-buffer.ts";
import { type LiveCall, Viewers } from "../../../../src/http/live/viewers.ts";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import { ViewerSlots } from "../../../../src/service/live/viewer-slots.ts";
import { VirtualTime } from "../../../support/stream/virtual-time.ts";
import { ScriptedLive } from "./scripted-live.ts";

const QUERY = { sinceSequence: 41, box: null, deviceIds: null, userId: null, view: null };
const VIEW = new View({ deviceIds: ["bus" as DeviceId], notBeforeMs: 0, precisionMeters: null });

let live: ScriptedLive;
let slots: ViewerSlots;
let counts = { events: 0, resets: 0, refused: 0 };
let viewers: Viewers;
let isGood = true;
let time: VirtualTime;

beforeEach(() => {
  live = new ScriptedLive();
  slots = new ViewerSlots(4);
  counts = { events: 0, resets: 0, refused: 0 };
  time = new VirtualTime();
  viewers = new Viewers({ live, slots, counts, answers: new AnswerBuffer(1024), timers: time });
  isGood = true;
});

function call({ keyId = "k_1", view = null as View | null, signal = new AbortController().signal } = {}) {
  const request = new Request("http://localhost/api/v1/live", { signal });
  const made: LiveCall = { request, appId: "fleet" as AppId, keyId, view, isStillAllowed: () => isGood };
  return made;
}

function open(from: LiveCall = call()) {
  const opened = viewers.open(from, QUERY);
  if (!opened.ok) throw new Error(opened.error.kind);
  return opened.value;
}

describe("Viewers", () => {
  test("gives the slot free with the stream", () => {
    const stream = open();
    expect(slots.taken).toBe(1);
    stream.close();
    expect(slots.taken).toBe(0);
  });

  test("refuses those that there is no slot for, with what to do, and opens nothing for them", () => {
    open();
    open();
    const refused = viewers.open(call(), QUERY);
    expect(refused).toMatchObject({ ok: false, error: { kind: "unavailable", retryAfterSeconds: 10 } });
    expect([counts.refused, live.viewers.length, slots.taken]).toEqual([1, 2, 2]);
  });

  test("ends with the client's connection", async () => {
    const client = new AbortController();
    const reader = streamOf(open(call({ signal: client.signal })), null).getReader();
    await reader.read();
    const waiting = reader.read();
    client.abort();
    expect((await waiting).done).toBe(true);
    expect([slots.taken, live.viewerCount]).toEqual([0, 0]);
  });

  test("ends at once where the client left while it was opened", () => {
    open(call({ signal: AbortSignal.abort() }));
    expect([slots.taken, live.viewerCount]).toEqual([0, 0]);
  });

  test("ends with the key, whoever takes anything meanwhile", async () => {
    const reading = streamOf(open(), null).getReader();
    await reading.read();
    const waiting = reading.read();
    open(call({ keyId: "k_2", view: VIEW })); // Takes nothing.
    await time.pass(5000);
    expect(slots.taken).toBe(2);
    isGood = false;
    await time.pass(1000);
    expect((await waiting).done).toBe(true);
    expect([slots.taken, live.viewerCount, time.planned]).toEqual([0, 0, 0]);
  });

  test("ends where nothing was taken for minutes, and not sooner", async () => {
    open();
    await time.pass(300_000);
    expect(slots.taken).toBe(1);
    await time.pass(1000);
    expect(slots.taken).toBe(0);
  });

  test("has room for many who open one share link", () => {
    slots = new ViewerSlots(1024);
    viewers = new Viewers({ live, slots, counts, answers: new AnswerBuffer(1024) });
    for (let count = 0; count < 512; count++) open(call({ view: VIEW }));
    expect(viewers.open(call({ view: VIEW }), QUERY).ok).toBe(false);
    viewers.stop();
  });

  test("looks at keys again after all have left and others have come", async () => {
    open().close();
    const reader = streamOf(open(), null).getReader();
    await reader.read();
    isGood = false;
    const waiting = reader.read();
    await time.pass(1000);
    expect((await waiting).done).toBe(true);
  });

  test("ends all when it is told to stop, those that are opened later too", async () => {
    const reader = streamOf(open(), null).getReader();
    await reader.read();
    const waiting = reader.read();
    open();
    viewers.stop();
    expect((await waiting).done).toBe(true);
    expect([slots.taken, live.isClosed]).toEqual([0, true]);
  });

  test("counts events and resets", async () => {
    const reader = streamOf(open(), null).getReader();
    await reader.read();
    const [viewer] = live.viewers;
    viewer!.tell("one");
    await reader.read();
    const reset = new TextDecoder().decode(viewer!.writer.reset(99));
    expect(reset).toMatch(/^event: reset\nid: 99\ndata: \{"message":"[^\n]*current\/columns[^\n]*"\}\n\n$/);
    viewer!.tell(reset);
    await reader.read();
    expect(counts).toEqual({ events: 2, resets: 1, refused: 0 });
  });

  test("has viewers share what they are told", () => {
    open();
    open();
    expect(live.viewers[0]!.writer).toBe(live.viewers[1]!.writer);
  });
});
