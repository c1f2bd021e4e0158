import { expect, test } from "bun:test";
import { Tids } from "../../../../../src/service/ingest/messages/tids.ts";
import * as fc from "../../../../support/fast-check.ts";

test("devices are shown by the first letters of their names where those are free, else by others", () => {
  const tids = new Tids();
  tids.handOut(["anna:pixel", "Bea:iphone", "b-52 eagle", "7"]);
  expect(["anna:pixel", "Bea:iphone"].map((device) => tids.of(device))).toEqual(["an", "be"]);
  for (const device of ["b-52 eagle", "7"]) expect(tids.of(device)).toMatch(/^[a-z]{2}$/);
  expect(tids.of("nobody")).toBeNull();
});

test("no two devices have the same letters, and who has some keeps them", () => {
  const names = fc.uniqueArray(fc.oneof(fc.string({ maxLength: 4 }), fc.stringMatching(/^an.$/)), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(fc.array(names, { maxLength: 12 }), (rounds) => {
      const tids = new Tids();
      const known = new Map<string, string>();
      for (const devices of rounds) {
        tids.handOut(devices);
        const given = devices.map((device) => tids.of(device)!);
        for (const tid of given) expect(tid).toMatch(/^[a-z]{2}$/);
        expect(new Set(given).size).toBe(devices.length);
        for (const [index, device] of devices.entries()) {
          if (known.size + devices.length <= 676)
            expect(known.get(device) ?? given[index]).toBe(given[index]!);
          known.set(device, given[index]!);
        }
      }
    }),
  );
});

test("where there are more devices than letters, those that are shown no more give theirs up", () => {
  const tids = new Tids();
  const round = (start: number) => Array.from({ length: 50 }, (_, index) => `d${start + index}`);
  for (let start = 0; start < 5000; start += 50) {
    tids.handOut(round(start));
    expect(new Set(round(start).map((device) => tids.of(device))).size).toBe(50);
  }
  expect(tids.of("d0")).toBeNull();
});

test("they are the same after a restart, where nobody wants another's", () => {
  const devices = ["anna", "bea", "7", "carl:8", "--"];
  const [before, after] = [new Tids(), new Tids()];
  before.handOut(devices);
  after.handOut(devices.toReversed());
  for (const device of devices) expect(after.of(device)).toBe(before.of(device));
});
