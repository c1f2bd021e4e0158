import { expect, test } from "bun:test";
import { DeviceTable, NO_DEVICE } from "../../../../src/hot/devices/device-table.ts";
import type { DeviceId } from "../../../../src/model/ids.ts";
import * as fc from "../../../support/fast-check.ts";

const id = fc.nat(120).map((number) => `device-${number}` as DeviceId);
const story = fc.array(fc.tuple(id, fc.boolean()), { maxLength: 300, size: "max" });
/** As drawn anew by each process, one that a few ids share, and the same for all. */
const hash = fc.constantFrom(
  undefined,
  (text: string) => text.length * 2 + text.charCodeAt(7),
  () => -1,
);

test("a table has the devices that were added and not removed, by id and by number", () => {
  fc.assert(
    fc.property(story, fc.array(id, { maxLength: 20 }), hash, (changes, asked, hash) => {
      const table = new DeviceTable(undefined, hash);
      const plain = new Map<string, number>();
      for (const [id, isAdded] of changes) {
        const known = table.find(id);
        expect(known?.number ?? null).toBe(plain.get(id) ?? null);
        if (isAdded && known === null) plain.set(id, table.add(id).number);
        if (!isAdded && known !== null) {
          table.remove(known);
          plain.delete(id);
          expect(table.findByNumber(known.number)).toBeNull();
        }
        expect(table.count).toBe(plain.size);
      }
      expect([...table.numbersOf(asked)]).toEqual(asked.map((id) => plain.get(id) ?? NO_DEVICE));
      for (const [id, number] of plain) expect(String(table.byNumber(number).id)).toBe(id);
      expect(new Set(plain.values()).size).toBe(plain.size);
    }),
  );
});

test("a device is who was meant, also once its number is another's", () => {
  const table = new DeviceTable();
  table.add("a" as DeviceId);
  const device = table.byNumber(0);
  table.remove(table.byNumber(0));
  expect(String(table.byNumber(table.add("b" as DeviceId).number).id)).toBe("b");
  expect([device.isGone, String(device.id)]).toEqual([true, "a"]);
});
