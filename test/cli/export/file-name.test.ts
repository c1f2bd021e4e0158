import { expect, test } from "bun:test";
import fc from "fast-check";
import { distinctNames, fileNameOf } from "../../../src/cli/commands/export/file-name.ts";
import { arbitraryHostileText } from "../../formats/write/arbitrary-records.ts";

const hostile = fc.oneof(
  arbitraryHostileText,
  fc.constantFrom(
    "../../etc/passwd",
    "/etc/passwd",
    "a/b",
    ".hidden",
    "-rf",
    "con\\x",
    "...",
    "a\u0301",
    "\u00e1",
    "BUS",
    "bus",
  ),
);

test("the name of a file stays in its folder, fits a file system, and is no option", () => {
  fc.assert(
    fc.property(hostile, (deviceId) => {
      const name = fileNameOf(deviceId);
      expect(name).not.toMatch(/[/\\\0:*?"<>|]/);
      expect(name).not.toMatch(/^[.-]/);
      expect(new TextEncoder().encode(name).length).toBeLessThanOrEqual(170);
      expect(name).not.toBe("");
    }),
    { numRuns: 1000 },
  );
});

test("no two devices share a file, on file systems that fold letters neither", () => {
  fc.assert(
    fc.property(fc.uniqueArray(hostile, { maxLength: 40 }), (devices) => {
      const names = distinctNames(devices.map(fileNameOf)).map((name) =>
        name.normalize("NFKC").toLowerCase(),
      );
      expect(new Set(names).size).toBe(devices.length);
    }),
    { numRuns: 1000 },
  );
});

test("plain names stay what they are", () => {
  for (const name of ["bus-4836", "anna@example.org", "Büs_7", "10.0"]) expect(fileNameOf(name)).toBe(name);
  expect(fileNameOf("anna:pixel 7/x")).toBe("anna%3Apixel%207%2Fx");
  expect(fileNameOf(".x")).toBe("%2Ex");
  expect(distinctNames(["a", "A", "a"])).toEqual(["a", "A~2", "a~3"]);
});
