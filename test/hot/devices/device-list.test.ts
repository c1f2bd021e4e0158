import { expect, test } from "bun:test";
import fc from "fast-check";
import { Device } from "../../../src/hot/devices/device.ts";
import { DeviceList } from "../../../src/hot/devices/device-list.ts";
import { createHotStore } from "../../../src/hot/hot-store.ts";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import { compareUtf8 } from "../../../src/lib/text/utf8.ts";
import type { DeviceId } from "../../../src/model/ids.ts";
import { APP, batchOf } from "../../support/reports/batches.ts";

/** Thousands of ids that share beginnings, in whatever order, so that blocks fill, split and empty. */
const DEVICES = Array.from(
  { length: 12_000 },
  (_, number) =>
    new Device(`${["a", "\uFF21", "\u{1F68C}"][number % 3]}${(number * 7919) % 12_000}` as DeviceId, number),
);

const byId = (a: Device, b: Device) => compareUtf8(a.id, b.id);
const idsOf = (devices: Iterable<Device>) => Array.from(devices, ({ id }) => id);

const change = fc.record({
  act: fc.constantFrom("add", "add", "delete", "read"),
  from: fc.nat(DEVICES.length - 1),
  count: fc.constantFrom(1, 3, 600, 1500, 5000),
});

test("a list has what was added and not taken out, in order", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
      const list = new DeviceList();
      const plain = new Set<Device>();
      for (const { act, from, count } of changes) {
        for (const device of DEVICES.slice(from, from + count)) {
          if (act === "add" && !plain.has(device)) {
            list.add(device);
            plain.add(device);
          } else if (act === "delete" && plain.delete(device)) list.delete(device);
        }
        expect(list.size).toBe(plain.size);
        if (act === "read") expect(idsOf(list)).toEqual(idsOf([...plain].sort(byId)));
      }
      expect(idsOf(list)).toEqual(idsOf([...plain].sort(byId)));
    }),
    { numRuns: 60 },
  );
});

test("blocks() meets once whoever stays, in order, whatever comes and goes between two of them", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), fc.nat(DEVICES.length), (changes, start) => {
      const list = new DeviceList();
      const there = new Set(DEVICES.slice(0, start));
      for (const device of there) list.add(device);
      const stayed = new Set(there);
      const everThere = new Set(there);
      const met: Device[] = [];
      const rest = [...changes];
      for (const block of list.blocks()) {
        met.push(...block);
        const { act, from, count } = rest.pop() ?? { act: "read", from: 0, count: 0 };
        for (const device of DEVICES.slice(from, from + count)) {
          if (act === "add" && !there.has(device)) {
            list.add(device);
            there.add(device);
            everThere.add(device);
          } else if (act === "delete" && there.delete(device)) {
            list.delete(device);
            stayed.delete(device);
          }
        }
      }
      expect(idsOf(met)).toEqual(idsOf([...new Set(met)].sort(byId)));
      const metOnes = new Set(met);
      expect([...stayed].filter((device) => !metOnes.has(device))).toEqual([]);
      expect(met.filter((device) => !everThere.has(device))).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

test("who was a user's and is no more is not kept by the user's list, though nobody reads it again", async () => {
  const hot = createHotStore(new Scheduler());
  let sequence = 0;
  const hand = (user_id: string, from: number) => {
    for (let first = from; first < 20_000; first += 1000) {
      const ids = Array.from({ length: Math.min(1000, 20_000 - first) }, (_, row) => `d${first + row}`);
      const place = { timestamp: Date.UTC(2026, 0, 14), latitude: 1, longitude: 2 };
      hot.apply(APP, batchOf(ids.map((device_id) => ({ ...place, device_id, user_id }))), ++sequence);
    }
  };
  hand("ann", 0);
  const user = hot.dictionary.findUser("ann");
  const app = hot.findApp(APP)!;
  const lists = [app.users.currentDevices(user), app.users.heldDevices(user)];
  for (const list of lists) for (const _ of list.blocks());
  hand("bob", 1);
  while (!lists.every(({ isSettled }) => isSettled)) await Bun.sleep(1); // In its own time, and untouched by us.
  expect(lists.map(({ size, holdsGone }) => [size, holdsGone])).toEqual([
    [1, false],
    [1, false],
  ]);
});
