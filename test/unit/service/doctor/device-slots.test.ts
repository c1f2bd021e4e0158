import { describe, expect, test } from "bun:test";
import { DeviceSlots } from "../../../../src/service/doctor/device-slots.ts";
import * as fc from "../../../support/fast-check.ts";

const EVERYBODY = { appId: null, deviceId: null };

function createSlots(max: number, idleMsMin = 0) {
  const slots = new DeviceSlots<"app" | "tracker">(max, idleMsMin);
  const see = (keyId: string, deviceId: string, nowMs: number, appId = "fleet") =>
    slots.see({ appId, keyId }, "app", deviceId, nowMs, () => {});
  const devices = () => [...slots.usedBy(EVERYBODY)].map((slot) => slots.ownerOf(slot).deviceId);
  return { slots, see, devices };
}

describe("DeviceSlots", () => {
  test("a device has one number in each app and group", () => {
    const { slots } = createSlots(100);
    const see = (appId: string, group: "app" | "tracker") =>
      slots.see({ appId, keyId: "k" }, group, "phone", 0, () => {});
    const numbers = [see("fleet", "app"), see("fleet", "tracker"), see("rival", "app"), see("fleet", "app")];
    expect(numbers).toEqual([0, 1, 2, 0]);
    expect([...slots.usedBy({ appId: "fleet", deviceId: null })]).toEqual([0, 1]);
    expect([...slots.usedBy({ appId: "rival", deviceId: "phone" })]).toEqual([2]);
    expect([...slots.usedBy({ appId: "rival", deviceId: "other" })]).toEqual([]);
  });

  test("a key that invents devices loses its own, the longest silent first, and nobody else's", () => {
    const { see, devices, slots } = createSlots(90);
    for (let i = 0; i < 10; i++) see("honest", `bus-${i}`, 0);
    for (let i = 0; i < 10; i++) see("theirs", `tram-${i}`, 0, "rival");
    for (let i = 0; i < 10_000; i++) see("hostile", `made-up-${i}`, i);
    const remaining = devices();
    expect(remaining.filter((id) => id.startsWith("bus-"))).toHaveLength(10);
    expect(remaining.filter((id) => id.startsWith("tram-"))).toHaveLength(10);
    expect(remaining.filter((id) => id.startsWith("made-up-")).sort()).toContain("made-up-9999");
    expect(slots.size).toBeLessThanOrEqual(90);
  });

  test("a device that is heard of keeps its number before one that is not", () => {
    const { see, devices } = createSlots(9);
    const ids = ["a", "b", "c"];
    for (const id of ids) see("k", id, 0);
    see("k", "a", 1);
    see("k", "d", 2);
    expect(devices().sort()).toEqual(["a", "c", "d"]);
  });

  test("a device that was heard of lately is not pushed out", () => {
    const { see, devices } = createSlots(9, 1000);
    for (const id of ["a", "b", "c"]) see("k", id, 0);
    expect(see("k", "d", 999)).toBeNull();
    expect(see("k", "d", 1000)).not.toBeNull();
    expect(devices().sort()).toEqual(["b", "c", "d"]);
  });

  test("numbers that are given back are given out again, and nothing is kept of who had them", () => {
    const { slots, see, devices } = createSlots(30);
    for (let i = 0; i < 5; i++) see("k", `bus-${i}`, 0);
    for (const slot of slots.usedBy(EVERYBODY)) slots.free(slot);
    expect([slots.size, devices()]).toEqual([0, []]);
    for (let i = 0; i < 5; i++) expect(see("k2", `tram-${i}`, 0)).toBeLessThan(5);
  });

  test("holds what a list of each key's devices in order of their last mention would", () => {
    const steps = fc.array(
      fc.record({ key: fc.integer({ min: 0, max: 2 }), device: fc.integer({ min: 0, max: 9 }) }),
      {
        maxLength: 80,
      },
    );
    fc.assert(
      fc.property(steps, (steps) => {
        const { slots, see, devices } = createSlots(12);
        /** Devices by the key that came to their number, the last mentioned last. */
        const lists: string[][] = [[], [], []];
        for (const [nowMs, { key, device }] of steps.entries()) {
          const id = `d${device}`;
          const slot = see(`k${key}`, id, nowMs);
          const owner = lists.findIndex((list) => list.includes(id));
          if (owner < 0 && slot !== null) {
            const list = lists[key]!;
            list.push(id);
            if (lists.flat().length > slots.size) list.shift();
          } else if (owner >= 0) {
            lists[owner] = [...lists[owner]!.filter((each) => each !== id), id];
          }
          expect(devices().sort()).toEqual(lists.flat().sort());
        }
      }),
    );
  });
});
