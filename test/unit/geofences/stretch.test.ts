import { expect, test } from "bun:test";
import { decideEvents } from "../../../src/geofences/decision.ts";
import type { EventRevision } from "../../../src/geofences/revisions.ts";
import { createShape } from "../../../src/geofences/shape.ts";
import type { WatchEvent, WatchedRecord } from "../../../src/geofences/watch.ts";
import { haversineMeters } from "../../../src/model/geo/distance.ts";
import type { AppId, UserId } from "../../../src/model/ids.ts";
import * as fc from "../../support/fast-check.ts";
import { DeviceJournal } from "../../support/geofences/device-journal.ts";
import { DEVICE, type WatchCase, watchCases } from "../../support/geofences/random-watches.ts";
import { seededRandom } from "../../support/seeded-random.ts";

const CIRCLE = createShape({ type: "Point", latitude: 0, longitude: 0, radiusMeters: 100 });

/** A receiver keeps the highest revision of each id. */
class Receiver {
  readonly #revisions = new Map<string, EventRevision>();

  receive(revisions: readonly EventRevision[]): void {
    for (const revision of revisions) {
      const { event } = revision;
      const before = this.#revisions.get(event.id);
      expect(revision.revision).toBe((before?.revision ?? 0) + 1);
      if (revision.isWithdrawn) expect(before).toMatchObject({ isWithdrawn: false });
      this.#revisions.set(event.id, revision);
    }
  }

  get events(): WatchEvent[] {
    const rest = [...this.#revisions.values()].filter(({ isWithdrawn }) => !isWithdrawn);
    return byId(rest.map(({ event }) => event));
  }
}

function byId(events: readonly WatchEvent[]): WatchEvent[] {
  return events.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** Everything that happens to a watch, in some order, with repetitions: what must be left is what the case has. */
function live(
  { watch, records, nowMs }: WatchCase,
  seed: number,
): { journal: DeviceJournal; receiver: Receiver } {
  const random = seededRandom(seed);
  const pick = (count: number) => Math.floor(random() * count);
  const receiver = new Receiver();
  let versions = 1;
  const journal = new DeviceJournal(
    { ...watch, versions: watch.versions.slice(0, 1), deletedMs: null },
    DEVICE,
    0,
  );
  const changeWatch = () => {
    const isLast = versions === watch.versions.length;
    const changedMs = isLast ? watch.deletedMs! : watch.versions[versions]!.fromMs;
    versions++;
    const deletedMs = versions > watch.versions.length ? watch.deletedMs : null;
    receiver.receive(
      journal.change({ ...watch, versions: watch.versions.slice(0, versions), deletedMs }, changedMs),
    );
  };
  const changes = watch.versions.length - (watch.deletedMs === null ? 1 : 0);
  const waiting = [...records];
  const strays: number[] = [];
  while (waiting.length > 0 || versions <= changes) {
    if (versions <= changes && pick(6) === 0) changeWatch();
    const batch = Array.from({ length: 1 + pick(6) }, () =>
      waiting.splice(pick(3) === 0 ? pick(waiting.length) : 0, 1),
    ).flat();
    if (pick(3) === 0 && records.length > 0) batch.push(records[pick(records.length)]!); // Comes again or early.
    receiver.receive(journal.report(batch));
    if (pick(4) === 0 && records.length > 0) {
      const stray = records[pick(records.length)]!;
      const timestampMs = stray.timestampMs + 1000 * (pick(7000) - 3500) + 1;
      strays.push(timestampMs);
      receiver.receive(journal.report([{ ...stray, timestampMs, latitude: pick(2) / 500 }]));
    }
    if (pick(4) === 0) receiver.receive(journal.remove(strays.splice(0)));
    if (pick(3) === 0)
      receiver.receive(journal.advanceTo(Math.min(nowMs, (records[0]?.timestampMs ?? 0) + pick(2 ** 28))));
  }
  receiver.receive(journal.remove(strays));
  receiver.receive(journal.advanceTo(nowMs));
  return { journal, receiver };
}

test("decideStretch() leaves the same events, whenever records, corrections and versions come", () => {
  fc.assert(
    fc.property(watchCases(250), fc.nat(), (watchCase, seed) => {
      const { watch, records, nowMs } = watchCase;
      const { journal, receiver } = live(watchCase, seed);
      const expected = byId(decideEvents(watch, DEVICE, records, nowMs));
      expect(byId(journal.events)).toEqual(expected);
      expect(receiver.events).toEqual(expected);
    }),
    { numRuns: 800 },
  );
});

test("decideStretch() reads the records from the settled state before a late one to the next after it", () => {
  const area = {
    kind: "area",
    shape: CIRCLE,
    accuracyMetersMax: 200,
    exitBufferMeters: 20,
    initial: "none",
  } as const;
  const condition = { ...area, dwellMs: null, silenceMs: null };
  const rules = {
    isActive: true,
    confirmations: 1,
    confirmMs: 0,
    schedule: null,
    devices: null,
    users: null,
  };
  const versions = [{ number: 1, fromMs: 0, condition, ...rules }];
  const watch = { appId: "app" as AppId, id: "depot", versions, deletedMs: null };
  const journal = new DeviceJournal(watch, DEVICE, 0);
  // Outside for 500 minutes, inside for 500, outside again.
  const meters = Array.from({ length: 1500 }, (_, minute) => (minute >= 500 && minute < 1000 ? 0 : 900));
  const recordAt = (minute: number, distance: number): WatchedRecord => ({
    timestampMs: minute * 60_000,
    userId: "u1" as UserId,
    latitude: distance / haversineMeters(0, 0, 1, 0),
    longitude: 0,
    accuracyMeters: null,
    metersPerSecond: null,
    batteryPercent: null,
  });
  for (const [minute, distance] of meters.entries()) journal.report([recordAt(minute, distance)]);
  const reading = (report: () => readonly EventRevision[]): { revisions: unknown; isShort: boolean } => {
    const before = journal.readCount;
    const revisions = report().map(
      ({ event, revision, isWithdrawn }) => [event.kind, revision, isWithdrawn] as const,
    );
    return { revisions, isShort: journal.readCount - before < 130 };
  };
  expect(journal.readCount).toBe(1500);
  expect(reading(() => journal.report([recordAt(200.5, 900)]))).toEqual({ revisions: [], isShort: true });
  expect(reading(() => journal.report([recordAt(1400.5, 900)]))).toEqual({ revisions: [], isShort: true });
  const visit = [
    ["enter", 1, false],
    ["exit", 1, false],
  ];
  expect(reading(() => journal.report([recordAt(200.6, 0)]))).toEqual({ revisions: visit, isShort: true });
  const withdrawal = [
    ["enter", 2, true],
    ["exit", 2, true],
  ];
  expect(reading(() => journal.remove([200.6 * 60_000]))).toEqual({ revisions: withdrawal, isShort: true });
  // One more position of the long visit is in all later states of it.
  expect(reading(() => journal.report([recordAt(700.5, 0)]))).toEqual({
    revisions: [["exit", 2, false]],
    isShort: false,
  });
});
