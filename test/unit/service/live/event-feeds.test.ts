import { afterEach, expect, test } from "bun:test";
import fc from "fast-check";
import type { EventKind } from "../../../../src/geofences/watch.ts";
import { Scheduler } from "../../../../src/lib/schedule/scheduler.ts";
import { nextTurn } from "../../../../src/lib/schedule/timers.ts";
import type { AppId, DeviceId, UserId } from "../../../../src/model/ids.ts";
import { createManualClock } from "../../../../src/model/time/clock.ts";
import { FixedRetention } from "../../../../src/model/time/retention.ts";
import { MS_PER_DAY } from "../../../../src/model/time/units.ts";
import type { EventsWriter, EventViewerQuery } from "../../../../src/service/live/event-feed.ts";
import { EventFeeds } from "../../../../src/service/live/event-feeds.ts";
import type { Viewer } from "../../../../src/service/live/live.ts";
import type { EventStore } from "../../../../src/service/watching/event-store.ts";
import type { StoredEvent } from "../../../../src/service/watching/stored-event.ts";
import { isWanted } from "../../../../src/service/watching/wanted-events.ts";
import { APP, beforeReads, openEvents, putAll, revisionAt } from "../../../support/geofences/test-events.ts";
import { rejection } from "../../../support/rejection.ts";

/* The messages that viewers of events get, from a real store. */

const NOON_MS = Date.UTC(2026, 0, 15, 12);
const ALL: EventViewerQuery = {
  ...{ sinceSeq: null, types: null, watches: null, devices: null, users: null, sendsLate: true },
};

/** A message as the writer of these tests makes it. */
type Message = { readonly events: readonly string[]; readonly seq: number } | { readonly reset: number };

const bytesOf = (message: Message) => new TextEncoder().encode(JSON.stringify(message));
const nameOf = ({ event, revision }: Pick<StoredEvent, "event" | "revision">) =>
  `${event.id.slice(-1)}${revision}`;
const writer: EventsWriter = {
  events: (events, seq) => bytesOf({ events: events.map(nameOf), seq }),
  reset: (seq) => bytesOf({ reset: seq }),
};

const opened: { readonly feeds: EventFeeds; readonly store: EventStore }[] = [];
afterEach(() => {
  for (const { feeds, store } of opened.splice(0)) {
    feeds.close();
    store.close();
  }
});

function open() {
  const store = openEvents();
  const reads = { count: 0, isFailing: false };
  beforeReads(store, () => {
    reads.count++;
    if (reads.isFailing) throw new Error("the disk fails");
  });
  const feeds = new EventFeeds({
    ...{ events: () => store, scheduler: new Scheduler(), clock: createManualClock(NOON_MS) },
    ...{ retention: FixedRetention.ofDays(30), pace: { restMs: 0, restTimes: 0 } },
  });
  opened.push({ feeds, store });
  const view = (query: Partial<EventViewerQuery> = {}, appId = APP) =>
    feeds.open(appId, { ...ALL, ...query }, writer);
  const put = (...marks: readonly string[]) =>
    putAll(
      store,
      marks.map((mark) => revisionAt(NOON_MS, mark)),
    );
  return { store, feeds, reads, view, put };
}

async function nextOf(viewer: Viewer): Promise<Message | null> {
  const bytes = await viewer.next();
  return bytes === null ? null : (JSON.parse(new TextDecoder().decode(bytes)) as Message);
}

test("a viewer gets the events that are stored after it is opened, each message with the place after it", async () => {
  const { view, put, store, reads } = open();
  put("A");
  const viewer = view();
  expect(viewer.sentSequence).toBe(store.lastSeqOf(APP));
  const first = nextOf(viewer);
  put("B", "C");
  expect(await first).toEqual({ events: ["B1", "C1"], seq: store.lastSeqOf(APP) });
  const second = nextOf(viewer);
  while (reads.count < 2) await nextTurn(); // Nothing is there yet.
  put("D");
  expect(await second).toEqual({ events: ["D1"], seq: store.lastSeqOf(APP) });
});

test("a viewer continues after any place, even if many events were stored since", async () => {
  const { view, store } = open();
  putAll(
    store,
    Array.from({ length: 1000 }, (_, index) => revisionAt(NOON_MS + index, "X")),
  );
  const viewer = view({ sinceSeq: 0 });
  const sizes: number[] = [];
  while (viewer.sentSequence < store.lastSeqOf(APP)) {
    const message = await nextOf(viewer);
    sizes.push(message !== null && "events" in message ? message.events.length : 0);
  }
  expect(sizes.reduce((sum, size) => sum + size)).toBe(1000);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(128); // A message is made and held at once.
});

test("a place beyond the app's last event resets the viewer, which then continues", async () => {
  const { view, put, store } = open();
  put("A");
  putAll(store, [revisionAt(NOON_MS, "B", {}, { appId: "other" as AppId })]);
  const viewer = view({ sinceSeq: store.lastSeq() }); // It is the other app's.
  expect(await nextOf(viewer)).toEqual({ reset: store.lastSeqOf(APP) });
  put("C");
  expect(await nextOf(viewer)).toMatchObject({ events: ["C1"] });
});

test("a viewer does not get events that the retention hides", async () => {
  const { view, store } = open();
  putAll(store, [revisionAt(NOON_MS - 40 * MS_PER_DAY, "A"), revisionAt(NOON_MS - 20 * MS_PER_DAY, "B")]);
  expect(await nextOf(view({ sinceSeq: 0 }))).toMatchObject({ events: ["B1"] });
});

test("viewers with the same progress share a read, and a viewer that does not read delays no other", async () => {
  const { view, put, reads } = open();
  const idle = view();
  const viewers = Array.from({ length: 20 }, () => view());
  const messages = viewers.map(nextOf);
  put("A");
  for (const message of messages) expect(await message).toMatchObject({ events: ["A1"] });
  expect(reads.count).toBe(1);
  expect(await nextOf(idle)).toMatchObject({ events: ["A1"] });
});

test("a failing disk ends the viewer's stream, which can be continued", async () => {
  const { view, put, reads, store } = open();
  const viewer = view();
  const since = viewer.sentSequence;
  const failure = rejection(viewer.next());
  reads.isFailing = true;
  put("A");
  expect(await failure).toMatchObject({ message: "the disk fails" });
  expect(await viewer.next()).toBeNull();
  reads.isFailing = false;
  expect(await nextOf(view({ sinceSeq: since }))).toEqual({ events: ["A1"], seq: store.lastSeqOf(APP) });
});

test("close() ends all viewers, including those that are opened later", async () => {
  const { view, feeds } = open();
  const waiting = view().next();
  feeds.close();
  expect([await waiting, await view().next()]).toEqual([null, null]);
});

/* Against the obvious way: the last revision of each event that passes the filter is what a viewer must know. */

const MARKS = ["A", "B", "C", "D", "E"];
const revisions = fc.record({
  mark: fc.constantFrom(...MARKS),
  kind: fc.constantFrom<EventKind>("enter", "exit"),
  deviceId: fc.constantFrom("bus", "car") as fc.Arbitrary<DeviceId>,
  userId: fc.constantFrom("ada", "bob") as fc.Arbitrary<UserId>,
  watchId: fc.constantFrom("depot", "school"),
  isLate: fc.boolean(),
  appId: fc.constantFrom(APP, "other" as AppId),
});
const filters = fc.record({
  types: fc.constantFrom(null, ["exit"]),
  watches: fc.constantFrom(null, ["school"]),
  devices: fc.constantFrom(null, ["bus" as DeviceId]),
  users: fc.constantFrom(null, ["ada" as UserId]),
  sendsLate: fc.boolean(),
});
const steps = fc.array(
  fc.oneof(
    fc.record({ store: fc.array(revisions, { minLength: 1, maxLength: 4 }) }),
    fc.constant("read" as const),
    fc.constant("reconnect" as const),
  ),
  { maxLength: 30 },
);

test("a viewer that reconnects gets the last revision of each event that passes its filter", async () => {
  await fc.assert(
    fc.asyncProperty(filters, steps, async (filter, actions) => {
      const { store, view } = open();
      const numbers = new Map<string, number>();
      const known = new Map<string, string>();
      let lastId = 0;
      let viewer = view({ ...filter, sinceSeq: 0 });
      let coming: Promise<Message | null> | null = null;
      const take = async () => {
        coming ??= nextOf(viewer);
        const message = await coming;
        coming = null;
        if (message === null || "reset" in message)
          throw new Error(`no events, but ${JSON.stringify(message)}`);
        for (const name of message.events) known.set(name[0]!, name);
        lastId = message.seq;
      };
      const isMissing = () => expectedOf(store, filter).some(([mark, name]) => known.get(mark) !== name);
      for (const action of actions)
        if (action === "read") {
          if (isMissing()) await take();
        } else if (action === "reconnect") {
          viewer.close();
          coming = null;
          viewer = view({ ...filter, sinceSeq: lastId });
        } else
          putAll(
            store,
            action.store.map(({ mark, isLate, appId, ...event }) => {
              const revision = (numbers.get(appId + mark) ?? 0) + 1;
              numbers.set(appId + mark, revision);
              return revisionAt(NOON_MS, mark, event, { isLate, appId, revision });
            }),
          );
      while (isMissing()) await take();
      viewer.close();
    }),
  );
});

function expectedOf(store: EventStore, filter: Omit<EventViewerQuery, "sinceSeq">): [string, string][] {
  return MARKS.flatMap((mark) => {
    const stored = store.find(APP, revisionAt(NOON_MS, mark).event.id);
    return stored !== null && isWanted(filter, stored) ? [[mark, nameOf(stored)] as [string, string]] : [];
  });
}
