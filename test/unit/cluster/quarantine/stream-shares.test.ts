import { expect, test } from "bun:test";
import { StreamShares } from "../../../../src/cluster/quarantine/stream-shares.ts";
import type { AppId } from "../../../../src/model/ids.ts";

const [A, B] = ["a", "b"] as AppId[] as [AppId, AppId];
const MEGABYTE = 1024 * 1024;

test("StreamShares counts what each app has in a stream, until it is purged", () => {
  const shares = new StreamShares(256 * MEGABYTE);
  expect(shares.bytesOf(A)).toBe(0);
  for (let message = 1; message <= 20; message++) shares.note(message, message % 2 === 0 ? A : B, MEGABYTE);
  expect([shares.bytesOf(A), shares.bytesOf(B)]).toEqual([10 * MEGABYTE, 10 * MEGABYTE]);
  shares.notePurged(1);
  expect(shares.bytesOf(A)).toBe(10 * MEGABYTE);
  shares.notePurged(10); // Of messages 1 to 8 nothing is left; 9 counts with those that are.
  expect([shares.bytesOf(A), shares.bytesOf(B)]).toEqual([6 * MEGABYTE, 6 * MEGABYTE]);
  shares.notePurged(1000);
  expect(shares.bytesOf(A) + shares.bytesOf(B)).toBe(4 * MEGABYTE);
});
