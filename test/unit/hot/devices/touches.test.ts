import { expect, test } from "bun:test";
import { Touches } from "../../../../src/hot/devices/touches.ts";

test("Touches tells by which entry each device was touched last, and the app", () => {
  const touches = new Touches();
  expect([touches.sequence, touches.sequenceOf(3)]).toEqual([0, 0]);
  touches.note(3, 10);
  touches.note(40, 11);
  touches.note(3, 12);
  expect([3, 40, 4, 41].map((device) => touches.sequenceOf(device))).toEqual([12, 11, 0, 0]);
  expect(touches.sequence).toBe(12);
  touches.remove(3);
  expect([touches.sequenceOf(3), touches.sequence]).toEqual([0, 12]);
});

test("its version is another after every change, of devices that go as well", () => {
  const touches = new Touches();
  const versions = [touches.version];
  touches.note(0, 10);
  versions.push(touches.version);
  touches.note(0, 11);
  versions.push(touches.version);
  touches.remove(0);
  versions.push(touches.version);
  expect(new Set(versions).size).toBe(4);
});
