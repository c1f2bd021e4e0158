import { expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { gunzip } from "../../../../src/lib/bytes/gunzip.ts";
import { outcome } from "../../../support/rejection.ts";

test("gunzip() gives what was packed, up to so many bytes and no more", async () => {
  const packed = gzipSync(new Uint8Array(1000).fill(7));
  expect(await gunzip(packed, 1000)).toEqual(new Uint8Array(1000).fill(7));
  expect(await outcome(gunzip(packed, 999))).toThrow();
  expect(await outcome(gunzip(packed.subarray(0, 10), 1000))).toThrow();
});
