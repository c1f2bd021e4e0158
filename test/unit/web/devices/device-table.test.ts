import { expect, test } from "bun:test";
import {
  type DeviceLook,
  DeviceTable,
  type LiveRecord,
  type TableChange,
} from "../../../../src/web/devices/device-table.ts";
import * as fc from "../../../support/fast-check.ts";

/* The table is compared with a map of the newest records, under any mix of snapshots, events and ends of sessions. */

const ids = fc.constantFrom("bus 9", "bus 10", "Zoë", "__proto__", "constructor", "", "1");
const degrees = fc.double({ min: -85, max: 85, noNaN: true });
const known = fc.option(fc.double({ min: 0, max: 300, noNaN: true }), { nil: undefined });
const records: fc.Arbitrary<LiveRecord> = fc
  .record({
    device_id: fc.oneof(
      ids,
      fc.integer({ min: 0, max: 300 }).map((number) => `v${number}`),
    ),
    timestamp: fc.integer({ min: 0, max: 50 }),
    latitude: degrees,
    longitude: degrees,
    speed: known,
    bearing: known,
  })
  .map((record) => JSON.parse(JSON.stringify(record)) as LiveRecord);
const fleets = fc.uniqueArray(records, { selector: ({ device_id }) => device_id, maxLength: 200 });
const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant("fill" as const), fleet: fleets }),
    fc.record({ kind: fc.constant("update" as const), fleet: fleets }),
    fc.record({ kind: fc.constant("clear" as const) }),
  ),
  { maxLength: 12 },
);

function columnsOf(fleet: readonly LiveRecord[], isShareLink: boolean) {
  return {
    sequence: 1,
    device_id: fleet.map(({ device_id }) => device_id),
    timestamp: fleet.map(({ timestamp }) => timestamp),
    latitude: fleet.map(({ latitude }) => latitude),
    longitude: fleet.map(({ longitude }) => longitude),
    ...(isShareLink
      ? {}
      : {
          speed: fleet.map(({ speed }) => speed ?? null),
          bearing: fleet.map(({ bearing }) => bearing ?? null),
        }),
  };
}

function shownIn(table: DeviceTable) {
  return Array.from({ length: table.size }, (_, row) => ({
    device_id: table.ids[row],
    timestamp: table.timestampMs[row],
    latitude: table.latitude[row],
    longitude: table.longitude[row],
    speed: table.speedMetersPerSecond[row],
    bearing: table.bearing[row],
  }));
}

test("the table has the newest record of each device, and rows stay the devices' own", () => {
  fc.assert(
    fc.property(steps, fc.boolean(), (all, isShareLink) => {
      const table = new DeviceTable();
      const changes: TableChange[] = [];
      table.onChange((change) => changes.push(change));
      let model = new Map<string, LiveRecord>();
      for (const step of all) {
        changes.length = 0;
        const rowsBefore = new Map(table.ids.map((id, row) => [id, row]));
        if (step.kind === "clear") {
          table.clear();
          model = new Map();
        } else if (step.kind === "fill") {
          const seen = isShareLink
            ? step.fleet.map(({ speed: _, bearing: __, ...rest }) => rest)
            : step.fleet;
          table.fill(columnsOf(seen, isShareLink));
          model = new Map(seen.map((record) => [record.device_id, record]));
        } else {
          const taken = step.fleet.filter(
            ({ device_id, timestamp }) =>
              timestamp >= (model.get(device_id)?.timestamp ?? Number.NEGATIVE_INFINITY),
          );
          table.update(step.fleet);
          for (const record of taken) model.set(record.device_id, record);
          const rows = taken.map(({ device_id }) => table.rowOf(device_id)!);
          expect(changes).toEqual(rows.length === 0 ? [] : [{ kind: "rows", rows }]);
          for (const [id, row] of rowsBefore) expect(table.rowOf(id)).toBe(row);
        }
        if (step.kind !== "update") expect(changes).toEqual([{ kind: "all" }]);
        expect(table.ids.length).toBe(table.size);
        expect(shownIn(table)).toEqual(
          table.ids.map((id) => {
            const record = model.get(id)!;
            return {
              ...record,
              speed: Math.fround(record.speed ?? Number.NaN),
              bearing: Math.fround(record.bearing ?? Number.NaN),
            };
          }),
        );
        expect(new Set(table.ids)).toEqual(new Set(model.keys()));
        for (const [row, id] of table.ids.entries()) expect(table.rowOf(id)).toBe(row);
      }
    }),
  );
});

const looks = fc.option(
  fc.record(
    {
      name: fc.constantFrom("Anna", "van 2", ""),
      color: fc.constantFrom("#ff0000", "#00ff00"),
      icon: fc.constantFrom("bus", "car"),
    },
    { requiredKeys: [] },
  ),
  { nil: undefined },
);
const lookSteps = fc.array(
  fc.record({
    kind: fc.constantFrom("fill", "update", "set", "clear"),
    looks: fc.uniqueArray(fc.tuple(ids, looks, fc.nat(3)), { selector: ([id]) => id }),
  }),
  { maxLength: 8 },
);

test("the looks and labels of devices are those that came last, whatever the time of the record", () => {
  fc.assert(
    fc.property(lookSteps, (all) => {
      const table = new DeviceTable();
      let model = new Map<string, DeviceLook | null>();
      for (const step of all) {
        const fleet = step.looks.map(([device_id, look, timestamp]) => ({
          ...{ device_id, timestamp, latitude: 1, longitude: 2 },
          ...(look === undefined ? {} : { profile: look }),
        }));
        const labelsBefore = new Map(table.ids.map((id) => [id, table.labelOf(id)]));
        const { labelEdition } = table;
        if (step.kind === "clear") table.clear();
        else if (step.kind === "fill")
          table.fill({
            ...columnsOf(fleet, false),
            profile: fleet.map(({ profile }) => profile ?? null),
          });
        else if (step.kind === "update") table.update(fleet);
        else for (const { device_id, profile } of fleet) table.setLook(device_id, profile ?? null);

        if (step.kind === "clear" || step.kind === "fill") model = new Map();
        for (const { device_id, profile } of step.kind === "clear" ? [] : fleet)
          if (step.kind !== "set" || model.has(device_id)) model.set(device_id, profile ?? null);
        expect(table.ids.map((id, row) => [id, table.labels[row], table.labelOf(id)])).toEqual(
          table.ids.map((id) => {
            const label = model.get(id)?.name ?? id;
            return [id, label, label];
          }),
        );
        for (const [row, id] of table.ids.entries())
          expect({ ...table.lookOf(row) }).toEqual({ ...model.get(id) });
        const isRenamed = table.ids.some((id) => {
          const before = labelsBefore.get(id);
          return before !== undefined && before !== table.labelOf(id);
        });
        if (isRenamed && (step.kind === "update" || step.kind === "set"))
          expect(table.labelEdition).toBeGreaterThan(labelEdition);
      }
    }),
  );
});

test("a device that is marked in another way is told of, also by an old record, and once", () => {
  const table = new DeviceTable();
  const at = { latitude: 0, longitude: 0 };
  const van = { device_id: "van", timestamp: 5, ...at };
  table.update([van, { ...van, device_id: "car" }]);
  const changes: TableChange[] = [];
  table.onChange((change) => changes.push(change));
  table.update([{ ...van, timestamp: 4, profile: { color: "#ff0000" } }]);
  table.setLook("van", { color: "#ff0000" });
  table.setLook("unknown", { color: "#ff0000" });
  expect(changes).toEqual([{ kind: "rows", rows: [0] }]);
  expect([table.timestampMs[0], table.lookOf(0)]).toEqual([5, { color: "#ff0000" }]);
  expect(table.labels).toBe(table.ids); // Without names there is no second list of texts.
});

test("clear() leaves no place of a device in memory", () => {
  const table = new DeviceTable();
  table.update([{ device_id: "van", timestamp: 1, latitude: 53, longitude: -3 }]);
  table.clear();
  expect(table.rowOf("van")).toBeUndefined();
  expect([table.ids.length, table.latitude.length, table.longitude.length, table.timestampMs.length]).toEqual(
    [0, 0, 0, 0],
  );
});

test("showOnly() hides all others, but not those that come later, and tells of it where it is another", () => {
  const table = new DeviceTable();
  const at = { timestamp: 1, latitude: 0, longitude: 0 };
  table.update([
    { device_id: "a", ...at },
    { device_id: "b", ...at },
  ]);
  const told: TableChange[] = [];
  table.onChange((change) => told.push(change));
  table.showOnly(Uint32Array.of(1));
  table.showOnly(Uint32Array.of(1));
  expect(told).toEqual([{ kind: "shown" }]);
  expect([table.isShown(0), table.isShown(1)]).toEqual([false, true]);
  table.update([{ device_id: "c", ...at }]);
  expect(table.isShown(2)).toBeTrue();
  table.showOnly(null);
  expect(table.isShown(0)).toBeTrue();
});
