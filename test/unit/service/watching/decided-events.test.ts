import { expect, test } from "bun:test";
import type { DeviceId } from "../../../../src/model/ids.ts";
import { DecidedEvents, type Publication } from "../../../../src/service/watching/decided-events.ts";
import type { EventStore } from "../../../../src/service/watching/event-store.ts";
import type { NewRevision, StoredEvent } from "../../../../src/service/watching/stored-event.ts";
import { APP, openEvents, putAll, revisionAt } from "../../../support/geofences/test-events.ts";

const BUS = "bus" as DeviceId;
const CAR = "car" as DeviceId;

const marks = (events: readonly StoredEvent[]) =>
  events
    .map(({ event }) => event.id.slice(-1))
    .sort()
    .join("");

class Node {
  readonly events: EventStore = openEvents();
  readonly decided = new DecidedEvents(this.events, true);

  decide(...revisions: readonly NewRevision[]): void {
    this.events.transact(() => {
      for (const revision of revisions) this.decided.write(revision);
    });
  }

  publish(revision: NewRevision, seq = 1): boolean {
    let isAgreed = false;
    const publication: Publication = { ...revision, seq };
    this.events.transact(() => {
      isAgreed = this.decided.publish(publication);
    });
    return isAgreed;
  }

  /** What is decided, published or not. */
  within(): string {
    return marks(this.decided.within(APP, BUS, Number.NEGATIVE_INFINITY, Infinity));
  }

  published(): string[] {
    return this.events
      .after(APP, 0, 100)
      .map(({ event, revision, seq, isWithdrawn }) =>
        [event.id.slice(-1), event.version, revision, seq, isWithdrawn ? "withdrawn" : ""].join(" ").trim(),
      );
  }

  get unpublished(): number {
    return this.decided.unpublished(0, 100).length;
  }
}

test("within() has a device's events that later records or the clock decided, unless they are withdrawn", () => {
  const events = openEvents();
  const decided = new DecidedEvents(events, false);
  putAll(events, [
    revisionAt(10, "1", {}, { decidedMs: 50 }),
    revisionAt(20, "2", {}, { decidedMs: 51 }),
    revisionAt(30, "3", {}, { decidedMs: Number.POSITIVE_INFINITY }),
    revisionAt(40, "4", {}, { decidedMs: 60, isWithdrawn: true }),
    revisionAt(50, "5", { deviceId: CAR }, { decidedMs: 60 }),
  ]);
  expect(marks(decided.within(APP, BUS, 50, Infinity))).toBe("23");
  expect(marks(decided.within(APP, BUS, Number.NEGATIVE_INFINITY, Infinity)).length).toBe(3);
  expect(decided.count(APP, BUS, 0, 1)).toEqual({ count: 1, lastMs: 50 });
  expect(decided.count(APP, BUS, 0, 10)).toEqual({ count: 2, lastMs: Infinity });
});

test("a single process stores what it decides", () => {
  const events = openEvents();
  const decided = new DecidedEvents(events, false);
  events.transact(() => decided.write(revisionAt(10, "1")));
  expect(events.after(APP, 0, 10).length).toBe(1);
});

test("a node stores published events, and keeps its own decisions that differ from them", () => {
  const node = new Node();
  const enter = revisionAt(10, "1");
  node.decide(enter, revisionAt(20, "2"));
  expect([node.within(), node.published(), node.unpublished]).toEqual(["12", [], 2]);
  expect(node.decided.count(APP, BUS, 0, 10)).toEqual({ count: 2, lastMs: Infinity });
  expect(node.publish(enter, 7)).toBe(true);
  expect([node.within(), node.published(), node.unpublished]).toEqual(["12", ["1 1 1 7"], 1]);
  node.decide({ ...enter, isWithdrawn: true, revision: 2 });
  expect([node.within(), node.unpublished]).toEqual(["2", 2]);
  node.decide({ ...enter, revision: 3 }); // Then there is nothing to publish about it.
  expect([node.within(), node.unpublished]).toEqual(["12", 1]);
  node.decide({ ...revisionAt(20, "2"), isWithdrawn: true }); // It was never published.
  expect([node.within(), node.unpublished]).toEqual(["1", 0]);
});

test("publish() returns whether the node has decided the same, and drops its own decision about the event", () => {
  const node = new Node();
  expect(node.publish(revisionAt(10, "1"))).toBe(false);
  node.decide(revisionAt(10, "1", { version: 2 }));
  expect(node.unpublished).toBe(1);
  expect(node.publish(revisionAt(10, "1", { version: 3 }, { revision: 2 }), 2)).toBe(false);
  expect([node.published(), node.unpublished]).toEqual([["1 3 2 2"], 0]);
});

test("publish() stores nothing twice; revisions and places only rise, whatever the publisher has sent", () => {
  const node = new Node();
  const enter = revisionAt(10, "1");
  node.publish(enter, 10);
  expect(node.publish(enter, 11)).toBe(true);
  expect(node.published()).toEqual(["1 1 1 10"]);
  node.publish(revisionAt(20, "2"), 5);
  node.publish(revisionAt(10, "1", { version: 2 }, { revision: 1 }), 5);
  expect(node.published()).toEqual(["2 1 1 11", "1 2 2 12"]);
  node.publish(revisionAt(30, "3", {}, { revision: 4 }), 50); // This node's database has lost the earlier ones.
  expect(node.published().at(-1)).toBe("3 1 4 50");
});

test("move() notes that another record decided an event, before the event is published and after", () => {
  const node = new Node();
  const enter = revisionAt(10, "1", {}, { decidedMs: Infinity });
  node.decide(enter);
  node.events.transact(() => node.decided.move(APP, enter.event.id, 60));
  node.publish(enter);
  expect(node.decided.within(APP, BUS, 50, 60).length).toBe(1);
  node.events.transact(() => node.decided.move(APP, enter.event.id, 70));
  expect(node.decided.within(APP, BUS, 50, 60).length).toBe(0);
  expect(node.decided.within(APP, BUS, 60, 70).length).toBe(1);
});
