import { describe, expect, test } from "bun:test";
import { readQuery } from "../../../../src/http/parameters/parameter.ts";
import { instants, readInstants } from "../../../../src/http/parameters/ranges.ts";
import { MS_PER_DAY } from "../../../../src/model/time/units.ts";

const DAYS_MAX = 31;

/** The range that a query asks for, or what is wrong with it. */
function asked(query: string): unknown {
  const read = readQuery(`http://host/path?${query}`, instants);
  const range = read.ok ? readInstants(read.value, DAYS_MAX) : read;
  if (range.ok) return range.value;
  return range.error.kind === "invalid_parameter" ? range.error.message : range.error.kind;
}

describe("a range of instants", () => {
  test("is what it says", () => {
    expect(asked("start=0&end=1")).toEqual({ startMs: 0, endMs: 1 });
    expect(asked("end=1774051200000&start=1773964800000")).toEqual({
      startMs: 1_773_964_800_000,
      endMs: 1_774_051_200_000,
    });
  });

  test("needs both ends, in order, no longer than the endpoint takes", () => {
    expect(asked("end=1")).toBe("start is required");
    expect(asked("start=1")).toBe("end is required");
    expect(asked("start=5&end=5")).toBe("start must be before end");
    expect(asked("start=6&end=5")).toBe("start must be before end");
    const longest = DAYS_MAX * MS_PER_DAY;
    expect(asked(`start=7&end=${7 + longest}`)).toEqual({ startMs: 7, endMs: 7 + longest });
    expect(asked(`start=7&end=${8 + longest}`)).toBe("start to end must be at most 31 days");
  });

  test.each([
    ["-1", "start must be between 0 and 8640000000000000"],
    ["8640000000000001", "start must be between 0 and 8640000000000000"],
    ["9007199254740993", "start must be between 0 and 8640000000000000"],
    ["99999999999999999999999", "start must be between 0 and 8640000000000000"],
    ["1.5", "start must be an integer"],
    ["1e3", "start must be an integer"],
    ["2026-03-20", "start must be an integer"],
    ["", "start must be an integer"],
  ])("begins at no %p", (start, message) => {
    expect(asked(`start=${start}&end=8640000000000000`)).toBe(message);
  });
});
