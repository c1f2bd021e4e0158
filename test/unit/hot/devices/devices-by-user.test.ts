import { expect, test } from "bun:test";
import type { Device } from "../../../../src/hot/devices/device.ts";
import type { ListedDevices } from "../../../../src/hot/devices/device-list.ts";
import { DeviceTable } from "../../../../src/hot/devices/device-table.ts";
import { DevicesByUser } from "../../../../src/hot/devices/devices-by-user.ts";
import { AssertionError } from "../../../../src/lib/assert.ts";
import { compareUtf8 } from "../../../../src/lib/text/utf8.ts";
import type { DeviceId } from "../../../../src/model/ids.ts";
import * as fc from "../../../support/fast-check.ts";

const table = new DeviceTable();
const DEVICES = Array.from({ length: 30 }, (_, number) => table.add(`d${(number * 7) % 30}` as DeviceId));
const USERS = [1, 2, 70_000, 2 ** 32 - 2];

const idsOf = (devices: Iterable<Device>) => Array.from(devices, ({ id }) => String(id));

function readIds(list: ListedDevices, afterId: DeviceId | null): string[] {
  while (!list.sortPending());
  const ids: string[] = [];
  const next = list.reader(afterId);
  for (let block = next(); block !== null; block = next())
    ids.push(...block.numbers.map((number) => String(table.idOf(number))));
  return ids;
}

test("each user has the devices that were added and not taken out, in order, few or many", () => {
  const act = fc.record({
    user: fc.constantFrom(...USERS),
    from: fc.nat(DEVICES.length - 1),
    count: fc.constantFrom(1, 2, 9, 30),
    isAdded: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(act, { maxLength: 40 }), fc.constantFrom(null, "d", "d2", "d29"), (acts, after) => {
      const byUser = new DevicesByUser(table);
      const plain = new Map(USERS.map((user) => [user, new Set<Device>()]));
      const lists = new Map(USERS.map((user) => [user, byUser.of(() => user)])); // They follow what comes and goes.
      for (const { user, from, count, isAdded } of acts) {
        const devices = plain.get(user)!;
        for (const device of DEVICES.slice(from, from + count)) {
          if (isAdded && !devices.has(device)) {
            byUser.add(user, device.number);
            devices.add(device);
          } else if (!isAdded && devices.delete(device)) byUser.delete(user, device.number);
        }
        for (const [each, those] of plain) {
          const expected = idsOf([...those].sort((a, b) => compareUtf8(a.id, b.id)));
          expect(lists.get(each)!.size).toBe(expected.length);
          expect(idsOf(lists.get(each)!)).toEqual(expected);
          expect(
            readIds(
              byUser.of(() => each),
              after as DeviceId | null,
            ),
          ).toEqual(expected.filter((id) => after === null || id > after));
        }
      }
      const users = [...plain].filter(([, devices]) => devices.size > 0).map(([user]) => user);
      expect([...byUser.users()].sort((a, b) => a - b)).toEqual(users.sort((a, b) => a - b));
    }),
  );
});

test("who is one of few when reading begins is met, also where they become many before", () => {
  const byUser = new DevicesByUser(table);
  byUser.add(1, DEVICES[0]!.number);
  const next = byUser.of(() => 1).reader();
  for (const device of DEVICES.slice(1)) byUser.add(1, device.number);
  expect(next()!.numbers).toHaveLength(DEVICES.length);
  expect(next()).toBeNull();
});

test("whose number is another's by then has none of the other's devices", () => {
  const byUser = new DevicesByUser(table);
  byUser.add(1, DEVICES[0]!.number);
  let user = 1;
  const list = byUser.of(() => user);
  byUser.delete(1, DEVICES[0]!.number);
  byUser.add(1, DEVICES[1]!.number);
  user = 0; // Nobody names the first one any more.
  expect([list.size, idsOf(list), readIds(list, null)]).toEqual([0, [], []]);
});

test("delete() asserts that the device is the user's", () => {
  const byUser = new DevicesByUser(table);
  expect(() => byUser.delete(1, 0)).toThrow(AssertionError);
  byUser.add(1, DEVICES[3]!.number);
  expect(() => byUser.delete(1, DEVICES[4]!.number)).toThrow(AssertionError);
  expect(() => byUser.delete(2, DEVICES[3]!.number)).toThrow(AssertionError);
  expect(idsOf(byUser.of(() => 1))).toEqual([String(DEVICES[3]!.id)]);
});
