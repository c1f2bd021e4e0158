import { beforeEach, describe, expect, test } from "bun:test";
import { View } from "../../../../src/auth/view.ts";
import { streamOf } from "../../../../src/http/answer/piecewise.ts";
import { type LiveCall, ViewerStream, Viewers } from "../../../../src/http/answer/viewers.ts";
import { AnswerBuffer } from "../../../../src/http/encode/answer-buffer.ts";
import type { AppId, DeviceId } from "../../../../src/model/ids.ts";
import type { EventWriter } from "../../../../src/service/live/live.ts";
import { ViewerSlots } from "../../../../src/service/live/viewer-slots.ts";
import { outcome } from "../../../support/rejection.ts";
import { VirtualTime } from "../../../support/stream/virtual-time.ts";
import { turns } from "../../../support/turns.ts";
import { ScriptedLive, ScriptedViewer } from "./scripted-live.ts";

const QUERY = { sinceSequence: 41, box: null, deviceIds: null, userId: null, view: null };
const VIEW = new View({ deviceIds: ["bus" as DeviceId], notBeforeMs: 0, precisionMeters: null });

const NO_FEEDS = {
  open: () => {
    throw new Error("no viewer of events");
  },
  close: () => {},
};
const NO_PROFILES = { profiles: { find: () => null } };

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
  viewers = createViewers();
  isGood = true;
});

function createViewers(): Viewers {
  return new Viewers({
    hot: NO_PROFILES,
    live,
    feeds: NO_FEEDS,
    slots,
    counts,
    answers: new AnswerBuffer(1024),
    timers: time,
  });
}

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
    expect(slots.inUse).toBe(1);
    stream.close();
    expect(slots.inUse).toBe(0);
  });

  test("refuses those that there is no slot for, with what to do, and opens nothing for them", () => {
    open();
    open();
    const refused = viewers.open(call(), QUERY);
    expect(refused).toMatchObject({ ok: false, error: { kind: "unavailable", retryAfterSeconds: 10 } });
    expect([counts.refused, live.viewers.length, slots.inUse]).toEqual([1, 2, 2]);
  });

  test("ends with the client's connection", async () => {
    const client = new AbortController();
    const reader = streamOf(open(call({ signal: client.signal })), null).getReader();
    await reader.read();
    const waiting = reader.read();
    client.abort();
    expect((await waiting).done).toBe(true);
    expect([slots.inUse, live.viewerCount]).toEqual([0, 0]);
  });

  test("ends at once where the client left while it was opened", () => {
    open(call({ signal: AbortSignal.abort() }));
    expect([slots.inUse, live.viewerCount]).toEqual([0, 0]);
  });

  test("ends with the key, whoever takes anything meanwhile", async () => {
    const reading = streamOf(open(), null).getReader();
    await reading.read();
    const waiting = reading.read();
    open(call({ keyId: "k_2", view: VIEW })); // Takes nothing.
    await time.pass(5000);
    expect(slots.inUse).toBe(2);
    isGood = false;
    await time.pass(1000);
    expect((await waiting).done).toBe(true);
    expect([slots.inUse, live.viewerCount, time.planned]).toEqual([0, 0, 0]);
  });

  test("ends where nothing was taken for minutes, and not sooner", async () => {
    open();
    await time.pass(300_000);
    expect(slots.inUse).toBe(1);
    await time.pass(1000);
    expect(slots.inUse).toBe(0);
  });

  test("has room for many who open one share link", () => {
    slots = new ViewerSlots(1024);
    viewers = createViewers();
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
    expect([slots.inUse, live.isClosed]).toEqual([0, true]);
  });

  test("counts events and resets", async () => {
    const reader = streamOf(open(), null).getReader();
    await reader.read();
    const [viewer] = live.viewers;
    viewer!.tell("one");
    await reader.read();
    const reset = new TextDecoder().decode(viewer!.writer.reset(99));
    expect(reset).toMatch(
      /^event: reset\nid: 99\ndata: \{"member":"locations","message":"[^\n]*current\/columns[^\n]*"\}\n\n$/,
    );
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

describe("ViewerStream", () => {
  const QUERY = { sinceSequence: 41, box: null, deviceIds: null, userId: null, view: null };
  const NO_WRITER = {} as EventWriter;
  const BEGINNING = 'retry: 2000\nid: 41\ndata: {"locations":[]}\n\n';
  const BEAT = ": nothing new\nid: 41\n\n";

  let viewer: ScriptedViewer;
  let stream: ViewerStream;
  let time: VirtualTime;
  let ends = 0;
  let events = 0;

  function open(): ReadableStreamDefaultReader<Uint8Array> {
    viewer = new ScriptedViewer("fleet" as AppId, QUERY, NO_WRITER);
    stream = new ViewerStream({
      viewer,
      members: ["locations"],
      idOf: () => String(viewer.sentSequence),
      timers: time,
      onEvent: () => events++,
      onEnd: () => ends++,
    });
    return streamOf(stream, null).getReader();
  }

  const decoder = new TextDecoder();
  const textOf = ({ value, done }: { value?: Uint8Array | undefined; done: boolean }) =>
    done ? null : decoder.decode(value);

  beforeEach(() => {
    time = new VirtualTime();
    ends = 0;
    events = 0;
  });

  test("says at once up to where the viewer knows all, then what it is told", async () => {
    const reader = open();
    expect(textOf(await reader.read())).toBe(BEGINNING);
    const first = reader.read();
    viewer.tell("one");
    expect(textOf(await first)).toBe("one");
    const second = reader.read();
    viewer.tell("two");
    expect(textOf(await second)).toBe("two");
    expect(events).toBe(2);
  });

  test("asks for nothing that its connection has no room for", async () => {
    const reader = open();
    await turns();
    expect(viewer.asked).toBe(0);
    await reader.read();
    await turns();
    expect(viewer.asked).toBe(0);
    const told = reader.read();
    await turns();
    expect(viewer.asked).toBe(1);
    viewer.tell("one");
    await told;
    await turns();
    expect(viewer.asked).toBe(1);
  });

  test("beats while there is nothing to tell, and what comes afterwards comes once", async () => {
    const reader = open();
    await reader.read();
    for (let beats = 0; beats < 2; beats++) expect(textOf(await time.until(reader.read()))).toBe(BEAT);
    expect(time.nowMs()).toBe(30_000);
    viewer.tell("one"); // To nobody, as long as the connection takes nothing.
    await turns();
    expect(textOf(await reader.read())).toBe("one");
    expect(textOf(await time.until(reader.read()))).toBe(BEAT);
    expect([viewer.asked, events]).toEqual([2, 1]);
  });

  test("puts no beat into an event that is made in parts, and counts it at its end", async () => {
    const reader = open();
    await reader.read();
    const part = reader.read();
    viewer.tell("begun", true);
    expect(textOf(await part)).toBe("begun");
    expect(events).toBe(0);
    const rest = reader.read();
    await time.pass(60_000);
    viewer.tell(" and over");
    expect(textOf(await rest)).toBe(" and over");
    expect(events).toBe(1);
  });

  const WAYS: Readonly<Record<string, (reader: ReadableStreamDefaultReader<Uint8Array>) => unknown>> = {
    "the client goes": (reader) => reader.cancel(),
    "it is closed": () => stream.close(),
    "the viewer is closed": () => viewer.close(),
  };

  test.each(Object.keys(WAYS))("ends once where %s while it waits", async (way) => {
    const reader = open();
    await reader.read();
    const waiting = reader.read();
    await turns();
    await WAYS[way]!(reader);
    expect(textOf(await waiting)).toBeNull();
    stream.close();
    await reader.cancel();
    expect([ends, viewer.isClosed]).toEqual([1, true]);
  });

  test("ends once where the client goes before anything was asked for", async () => {
    const reader = open();
    await reader.cancel();
    expect([ends, viewer.isClosed]).toEqual([1, true]);
  });

  test("says nothing more where it was closed before anything was asked for", async () => {
    const reader = open();
    stream.close();
    expect(textOf(await reader.read())).toBeNull();
    expect([ends, viewer.asked]).toEqual([1, 0]);
  });

  test("ends behind what was sent where it is closed while nothing is taken", async () => {
    const reader = open();
    await reader.read();
    const told = reader.read();
    viewer.tell("one");
    await told;
    stream.close();
    expect(ends).toBe(1);
    expect(textOf(await reader.read())).toBeNull();
  });

  test("breaks off and ends where the viewer fails", async () => {
    const reader = open();
    await reader.read();
    const waiting = reader.read();
    await turns();
    viewer.fail(new Error("broken"));
    expect(await outcome(waiting)).toThrow("broken");
    await waiting.catch(() => undefined);
    expect([ends, viewer.isClosed]).toEqual([1, true]);
  });

  test("knows for how long nothing was taken", async () => {
    const reader = open();
    await time.pass(2000);
    expect(stream.stalledMs()).toBe(2000);
    await reader.read();
    const waiting = reader.read();
    await time.pass(14_000);
    expect(stream.stalledMs()).toBe(0);
    viewer.tell("one");
    await waiting;
    await time.pass(5000);
    expect(stream.stalledMs()).toBe(5000);
  });
});
