import { expect, test } from "bun:test";
import { parseAlert, parseFence } from "../../../src/geofences/parse/drafts.ts";
import { WatchStore } from "../../../src/geofences/watch-store.ts";
import { viewsOf } from "../../../src/lib/frames/views.ts";
import { inOneTurn } from "../../../src/lib/schedule/steps.ts";
import type { AppId, DeviceId, UserId } from "../../../src/model/ids.ts";
import { decodeStandingEntry, encodeStandingEntry } from "../../../src/model/standing-entry.ts";
import type { WatchEntry } from "../../../src/model/watches/watch-entry.ts";
import type { WatchDraft } from "../../../src/model/watches/watch-rules.ts";
import * as fc from "../../support/fast-check.ts";

const APP = "fleet" as AppId;

function fence(radius: number, name: string, devices?: readonly string[]): WatchDraft {
  const properties = {
    name,
    radius_meters: radius,
    ...(devices === undefined ? {} : { devices, users: devices }),
  };
  const parsed = parseFence({
    type: "Feature",
    geometry: { type: "Point", coordinates: [1, 2] },
    properties,
  });
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.value;
}

function alert(limit: number): WatchDraft {
  const parsed = parseAlert({ speed_above: limit });
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.value;
}

function entryOf(id: string, atMs: number, draft: WatchDraft | null): WatchEntry {
  const watchKind = id.startsWith("a") ? "alert" : "fence";
  return { kind: "watch", appId: APP, id, watchKind, atMs, draft, part: null, past: null };
}

function storeOf(entries: readonly WatchEntry[]): WatchStore {
  const store = new WatchStore();
  for (const [index, entry] of entries.entries()) inOneTurn(store.apply(entry, index + 1));
  return store;
}

/** Everything that a store has, without prepared areas. */
function contentsOf(store: WatchStore) {
  return [...(store.find(APP)?.byId.values() ?? [])].map((watch) => ({
    ...{ id: watch.id, kind: watch.kind, look: watch.look, createdMs: watch.createdMs },
    ...{ changedMs: watch.changedMs, deletedMs: watch.deletedMs },
    versions: watch.versions.map(({ number, fromMs, terms }) => ({ number, fromMs, terms })),
  }));
}

/** Versions of fences whose boxes have the center of all circles here. */
function countAt(store: WatchStore): number {
  let count = 0;
  store.find(APP)!.index.visit(2, 1, () => count++);
  return count;
}

function throughFile(store: WatchStore, sequence: number): WatchStore {
  const restored = new WatchStore();
  for (const entry of store.entries()) {
    const bytes = encodeStandingEntry(entry, 0);
    restored.restore(decodeStandingEntry(viewsOf(bytes), 0, bytes.length, "file") as WatchEntry);
  }
  restored.endRestore(sequence);
  return restored;
}

const steps = fc.array(
  fc.record({
    id: fc.constantFrom("f1", "f2", "a1"),
    atMs: fc.integer({ min: 1, max: 40 }),
    radius: fc.constantFrom(10, 20, 30),
    name: fc.constantFrom("x", "y"),
    isDeletion: fc.boolean(),
  }),
  { maxLength: 30 },
);

test("WatchStore is the same after a file, wherever that was written, even if the log repeats what the file has", () => {
  fc.assert(
    fc.property(steps, fc.nat(30), fc.nat(5), (all, at, repeated) => {
      // Entries that the file has, too, come again only where a server's clock ran on.
      const inOrder = repeated === 0 ? all : all.toSorted((a, b) => a.atMs - b.atMs);
      const entries = inOrder.map(({ id, atMs, radius, name, isDeletion }) =>
        entryOf(id, atMs, isDeletion ? null : id.startsWith("a") ? alert(radius) : fence(radius, name)),
      );
      const whole = contentsOf(storeOf(entries));
      const cut = Math.min(at, entries.length);
      const restored = throughFile(storeOf(entries.slice(0, cut)), Math.max(0, cut - repeated));
      for (const [index, entry] of entries.entries())
        if (index >= cut - repeated) inOneTurn(restored.apply(entry, index + 1));
      expect(contentsOf(restored)).toEqual(whole);
      // Each version is later than the one before, and differs from it.
      for (const { versions } of whole)
        for (const [index, version] of versions.entries()) {
          expect(version.number).toBe(index + 1);
          const before = versions[index - 1];
          if (before === undefined) continue;
          expect(version.fromMs).toBeGreaterThan(before.fromMs);
          expect(version.terms).not.toEqual(before.terms);
        }
    }),
    { numRuns: 500 },
  );
});

test("the parts of an import take effect together, also if a file is written between them", () => {
  const parts = ["f1", "f2", "f3"].map(
    (id, index): WatchEntry => ({
      ...entryOf(id, 5, fence(10, id)),
      part: { importId: "i", index, count: 3 },
    }),
  );
  const store = storeOf(parts.slice(0, 2));
  expect(contentsOf(store)).toEqual([]);
  const restored = throughFile(store, 2);
  for (const each of [store, restored]) {
    inOneTurn(each.apply(parts[2]!, 3));
    expect(contentsOf(each).map(({ id }) => id)).toEqual(["f1", "f2", "f3"]);
    expect(countAt(each)).toBe(3);
    expect(each.find(APP)!.countOf("fence")).toBe(3);
  }
  // The parts of a process that ended in the middle do not stay.
  const left = storeOf(parts.slice(0, 2));
  inOneTurn(left.apply(entryOf("f9", 5 + 3_600_001, fence(10, "later")), 3));
  expect([...left.find(APP)!.pending.keys()]).toEqual([]);
});

test("erase() takes devices and users out of the rules of all versions and of waiting parts", () => {
  const waiting = {
    ...entryOf("f2", 3, fence(10, "x", ["van"])),
    part: { importId: "i", index: 0, count: 2 },
  };
  const entries = [
    entryOf("f1", 1, fence(10, "x", ["van", "bus"])),
    entryOf("f1", 2, fence(20, "x", ["van"])),
    waiting,
  ];
  const store = storeOf(entries);
  const always = { startMs: Number.NEGATIVE_INFINITY, endMs: Number.POSITIVE_INFINITY };
  store.erase(
    APP,
    { appId: APP, deviceIds: ["van" as DeviceId], userId: null, range: { ...always, startMs: 0 } },
    4,
  );
  expect(JSON.stringify([...store.entries()])).toContain("van");
  store.erase(APP, { appId: APP, deviceIds: ["van" as DeviceId], userId: null, range: always }, 5);
  store.erase(APP, { appId: APP, deviceIds: [], userId: "van" as UserId, range: always }, 6);
  expect(JSON.stringify([...store.entries()])).not.toContain("van");
  const [first, second] = contentsOf(store)[0]!.versions;
  expect([first!.terms.rules.devices, second!.terms.rules.devices]).toEqual([["bus"], []] as never);
  expect(store.sequence).toBe(6);
});

test("forget() keeps what a record from that instant on may need", () => {
  const store = storeOf([
    entryOf("f1", 10, fence(10, "x")),
    entryOf("f1", 20, fence(20, "x")),
    entryOf("f1", 30, fence(30, "x")),
    entryOf("f2", 10, fence(10, "y")),
    entryOf("f2", 25, null),
  ]);
  const bytes = store.find(APP)!.bytes;
  inOneTurn(store.forget(25));
  const left = contentsOf(store).map(({ id, versions }) => [id, versions.map(({ number }) => number)]);
  expect(left).toEqual([
    ["f1", [2, 3]],
    ["f2", [1]],
  ]);
  inOneTurn(store.forget(26));
  expect(contentsOf(store).map(({ id }) => id)).toEqual(["f1"]);
  expect(countAt(store)).toBe(2);
  expect(store.find(APP)!.vertices).toBe(2);
  expect(store.find(APP)!.bytes).toBeLessThan(bytes);
});
