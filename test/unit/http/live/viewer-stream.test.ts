import { beforeEach, describe, expect, test } from "bun:test";
import { streamOf } from "../../../../src/http/answer/piecewise.ts";
import { ViewerStream } from "../../../../src/http/live/viewer-stream.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import type { EventWriter } from "../../../../src/service/live/live.ts";
import { outcome } from "../../../support/rejection.ts";
import { VirtualTime } from "../../../support/stream/virtual-time.ts";
import { turns } from "../../../support/turns.ts";
import { ScriptedViewer } from "./scripted-live.ts";

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

describe("ViewerStream", () => {
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
