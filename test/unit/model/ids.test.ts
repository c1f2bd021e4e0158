import { expect, test } from "bun:test";
import { parseAppId } from "../../../src/model/ids.ts";

test("parseAppId() takes 1 to 64 letters, digits, dots, underscores and hyphens", () => {
  for (const text of ["a", "default", "My.App_2-x", "...", "9".repeat(64)]) {
    expect(parseAppId(text) as string | null).toBe(text);
  }
});

test("parseAppId() refuses what could not stand in a path or a log line", () => {
  for (const text of ["", ".", "..", "a b", "a/b", "é", "a\n", "9".repeat(65)])
    expect(parseAppId(text)).toBeNull();
});
