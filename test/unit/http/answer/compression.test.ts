import { describe, expect, test } from "bun:test";
import { allowsCoding, preferredCoding } from "../../../../src/http/answer/compression.ts";

describe("preferredCoding()", () => {
  test.each([
    [null, null],
    ["", null],
    ["br", null],
    ["gzip", "gzip"],
    ["gzip, deflate, br, zstd", "zstd"],
    ["zstd;q=0.5, gzip", "gzip"],
    ["GZIP; Q=0.5", "gzip"],
    ["*", "zstd"],
    ["*;q=0.5", "zstd"],
    ["gzip;q=0.5, *;q=0.1", "gzip"],
    ["gzip;q=0.5", "gzip"],
    ["zstd;q=0, *", "gzip"],
    ["gzip;q=0", null],
    ["*;q=0", null],
    ["gzip, *;q=0", "gzip"],
    // What the client says of having none.
    ["identity;q=1, gzip;q=0.5", null],
    ["identity, gzip;q=0.9, zstd;q=0.8", null],
    ["gzip;q=0.5, identity;q=0.4", "gzip"],
    ["identity, gzip", "gzip"],
    ["identity;q=0.5, *;q=0.1", null],
    ["identity;q=0", null],
    ["identity;q=0, gzip;q=0.1", "gzip"],
    ["identity;q=0, *;q=0.1", "zstd"],
    ["gzip;q=0.2, zstd;q=0.1, *;q=0.9", null],
    ["gzip;q=many", null],
  ] as const)("of %p is %p", (accepted, coding) => {
    expect(preferredCoding(accepted)).toBe(coding);
  });
});

test("allowsCoding() asks for that coding alone, and whether the client would rather have none", () => {
  for (const accepted of ["gzip", "zstd, gzip;q=0.5", "*", "identity;q=0.5, gzip"])
    expect([accepted, allowsCoding(accepted, "gzip")]).toEqual([accepted, true]);
  for (const accepted of [null, "zstd", "gzip;q=0", "identity;q=1, gzip;q=0.5", "*;q=0"])
    expect([accepted, allowsCoding(accepted, "gzip")]).toEqual([accepted, false]);
});
