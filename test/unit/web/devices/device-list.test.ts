import { expect, test } from "bun:test";
import { DeviceList, type ListFilter, type ListOrder } from "../../../../src/web/devices/device-list.ts";
import { DeviceTable, type LiveRecord } from "../../../../src/web/devices/device-table.ts";
import { activityOf } from "../../../../src/web/devices/freshness.ts";
import { folded } from "../../../../src/web/devices/name-search.ts";
import * as fc from "../../../support/fast-check.ts";

const NOW_MS = 1_000_000_000;

/** A list whose clock is the test's. */
function listOf(records: readonly LiveRecord[]) {
  const clock = { nowMs: NOW_MS };
  const table = new DeviceTable();
  const list = new DeviceList(
    table,
    () => undefined,
    () => clock.nowMs,
  );
  fill(table, records);
  const names = () => Array.from(list.rows, (row) => table.ids[row]!);
  return { table, list, clock, names };
}

function fill(table: DeviceTable, records: readonly LiveRecord[]): void {
  table.fill({
    sequence: 1,
    device_id: records.map(({ device_id }) => device_id),
    timestamp: records.map(({ timestamp }) => timestamp),
    latitude: records.map(({ latitude }) => latitude),
    longitude: records.map(({ longitude }) => longitude),
    speed: records.map(({ speed }) => speed ?? null),
    profile: records.map(({ profile }) => profile ?? null),
  });
}

function seen(device_id: string, agoSeconds: number, speed?: number): LiveRecord {
  const at = { latitude: 1, longitude: 2, timestamp: NOW_MS - agoSeconds * 1000 };
  return speed === undefined ? { device_id, ...at } : { device_id, ...at, speed };
}

const FLEET = [seen("bus 10", 3, 0), seen("bus 9", 60, 12), seen("Zoë", 9000, 30), seen("zo-2", 1)];

test("the newest comes first, or names as one counts, or the fastest of those that were heard", () => {
  const { list, names } = listOf(FLEET);
  expect(names()).toEqual(["zo-2", "bus 10", "bus 9", "Zoë"]);
  list.sortBy("name");
  expect(names()).toEqual(["bus 9", "bus 10", "zo-2", "Zoë"]);
  list.sortBy("fastest");
  expect(names()).toEqual(["bus 9", "bus 10", "zo-2", "Zoë"]);
});

test("a filter leaves what moves, stands or is silent, and the map shows the same", () => {
  const { table, list, names } = listOf(FLEET);
  const shown: Record<ListFilter, string[]> = {
    all: ["zo-2", "bus 10", "bus 9", "Zoë"],
    moving: ["bus 9"],
    stopped: ["bus 10"],
    silent: ["Zoë"],
  };
  for (const filter of ["moving", "stopped", "silent", "all"] as const) {
    list.showOnly(filter);
    expect(names()).toEqual(shown[filter]);
    expect(table.ids.filter((_, row) => table.isShown(row)).sort()).toEqual([...shown[filter]].sort());
  }
});

test("a search finds parts of names without case and accents; names that begin with it come first", () => {
  const { list, names } = listOf([...FLEET, seen("Enzo", 0)]);
  list.search("ZO");
  expect(names()).toEqual(["zo-2", "Zoë", "Enzo"]);
  list.search("zoe");
  expect(names()).toEqual(["Zoë"]);
  list.search("zöe");
  expect(names()).toEqual(["Zoë"]);
  list.search("none");
  expect(names()).toEqual([]);
});

test("a search finds names and ids, and the order by name is that of what is shown", () => {
  const { table, list, names } = listOf(FLEET);
  table.setLook("bus 10", { name: "Anna's bus", color: "#ff0000" });
  table.setLook("Zoë", { color: "#00ff00" });
  list.search("anna");
  expect(names()).toEqual(["bus 10"]);
  list.search("bus");
  expect(names()).toEqual(["bus 10", "bus 9"]);
  list.search("");
  list.sortBy("name");
  expect(names()).toEqual(["bus 10", "bus 9", "zo-2", "Zoë"]);
  table.setLook("bus 10", null);
  table.setLook("zo-2", { name: "aaa" });
  list.refresh();
  expect(names()).toEqual(["zo-2", "bus 9", "bus 10", "Zoë"]);
  list.search("anna");
  expect(names()).toEqual([]);
});

test("while it is held no row changes its place, and what the user asks for is done all the same", () => {
  const { table, list, names, clock } = listOf(FLEET);
  list.hold("pointer");
  list.hold("focus");
  table.update([seen("Zoë", 0), seen("new", 0)]);
  list.refresh();
  expect(names()).toEqual(["zo-2", "bus 10", "bus 9", "Zoë"]);
  list.release("pointer");
  expect(names()).toEqual(["zo-2", "bus 10", "bus 9", "Zoë"]);
  list.sortBy("name");
  expect(names()).toEqual(["bus 9", "bus 10", "new", "zo-2", "Zoë"]);
  list.showOnly("stopped");
  clock.nowMs += 180_000;
  list.refresh();
  expect(names()).toEqual(["bus 10", "Zoë"]);
  list.release("focus");
  expect(names()).toEqual([]);
});

test("devices that come are counted at once where all are shown, also while the list is held", () => {
  const { table, list } = listOf(FLEET);
  list.hold("pointer");
  table.update([seen("new", 0)]);
  expect([list.count, list.rows.length]).toEqual([5, 4]);
  list.search("zo");
  expect(list.count).toBe(2);
});

test("a new snapshot leaves the rows of a held list where they were", () => {
  const { table, list, names } = listOf(FLEET);
  list.hold("pointer");
  fill(table, [seen("a", 0), ...FLEET.toReversed().map((record) => ({ ...record, timestamp: NOW_MS }))]);
  expect(names()).toEqual(["zo-2", "bus 10", "bus 9", "Zoë"]);
  list.release("pointer");
  expect(names().length).toBe(5);
});

test("when the session ends nothing of what was searched for stays", () => {
  const { table, list, names } = listOf(FLEET);
  list.search("bus");
  list.showOnly("moving");
  table.clear();
  expect([list.query, list.filter, ...names()]).toEqual(["", "all"]);
});

const ids = fc.constantFrom("bus 1", "bus 2", "bus 10", "Bus", "ÄB", "ab", "b", "c b", "ub", "x");
const records = fc
  .record({
    id: ids,
    ago: fc.nat(200),
    speed: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
    name: fc.option(fc.constantFrom("bus 3", "äb", "", "My b"), { nil: undefined, freq: 2 }),
  })
  .map(({ id, ago, speed, name }) => ({
    ...seen(id, ago, speed),
    ...(name === undefined ? {} : { profile: { name } }),
  }));
const fleets = fc.uniqueArray(records, { selector: ({ device_id }) => device_id });
const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant("update" as const), fleet: fleets }),
    fc.record({ kind: fc.constant("fill" as const), fleet: fleets }),
    fc.record({
      kind: fc.constant("search" as const),
      query: fc.constantFrom("", "b", "B", "ab", "bus ", "é"),
    }),
    fc.record({
      kind: fc.constant("filter" as const),
      filter: fc.constantFrom<ListFilter>("all", "moving", "stopped", "silent"),
    }),
    fc.record({
      kind: fc.constant("sort" as const),
      order: fc.constantFrom<ListOrder>("newest", "name", "fastest"),
    }),
    fc.record({ kind: fc.constant("later" as const), ms: fc.nat(150_000) }),
  ),
  { maxLength: 15 },
);

test("after any mix of events and wishes the list is what sorting and filtering all devices gives", () => {
  fc.assert(
    fc.property(steps, (all) => {
      const { table, list, clock } = listOf([]);
      for (const step of all) {
        if (step.kind === "update") table.update(step.fleet);
        else if (step.kind === "fill") fill(table, step.fleet);
        else if (step.kind === "search") list.search(step.query);
        else if (step.kind === "filter") list.showOnly(step.filter);
        else if (step.kind === "sort") list.sortBy(step.order);
        else clock.nowMs += step.ms;
        list.refresh();
        const rows = expectedRows(table, list, clock.nowMs);
        expect([...list.rows]).toEqual(rows);
        expect(table.ids.flatMap((_, row) => (table.isShown(row) ? [row] : []))).toEqual(
          rows.toSorted((a, b) => a - b),
        );
      }
    }),
  );
});

/** The obvious way. */
function expectedRows(table: DeviceTable, { query, filter, orderBy }: DeviceList, nowMs: number): number[] {
  const collator = new Intl.Collator(undefined, { numeric: true });
  const place = (row: number) => {
    const places = [table.ids[row]!, table.lookOf(row)?.name ?? table.ids[row]!]
      .map((text) => folded(text).indexOf(folded(query)))
      .filter((at) => at >= 0);
    return places.length === 0 ? -1 : Math.min(...places);
  };
  const label = (row: number) => table.lookOf(row)?.name ?? table.ids[row]!;
  const speed = (row: number) => {
    const value = table.speedMetersPerSecond[row]!;
    if (nowMs - table.timestampMs[row]! >= 120_000) return -2;
    return Number.isNaN(value) ? -1 : value;
  };
  const compare = (a: number, b: number) => {
    if (orderBy === "name") return collator.compare(label(a), label(b));
    if (orderBy === "newest") return table.timestampMs[b]! - table.timestampMs[a]!;
    return speed(b) - speed(a);
  };
  return Array.from({ length: table.size }, (_, row) => row)
    .filter((row) => place(row) >= 0 && (filter === "all" || activityOf(table, row, nowMs) === filter))
    .sort((a, b) => Math.sign(place(a)) - Math.sign(place(b)) || compare(a, b) || a - b);
}
