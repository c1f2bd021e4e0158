import { expect, test } from "bun:test";
import { deviceNameOf, fileNamesOf } from "../../../src/formats/device-file-name.ts";
import * as fc from "../../support/fast-check.ts";
import { arbitraryHostileText } from "./write/arbitrary-records.ts";

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
      const name = fileNamesOf([deviceId])[0]!;
      expect(name).not.toMatch(/[/\\\0:*?"<>|]/);
      expect(name).not.toMatch(/^[.-]/);
      expect(new TextEncoder().encode(name).length).toBeLessThanOrEqual(170);
      expect(name).not.toBe("");
    }),
    { numRuns: 1000 },
  );
});

test("no two devices share a file, on file systems that fold letters neither, and each comes back", () => {
  fc.assert(
    fc.property(fc.uniqueArray(hostile, { maxLength: 40 }), (devices) => {
      const names = fileNamesOf(devices);
      expect(new Set(names.map((name) => name.normalize("NFKC").toLowerCase())).size).toBe(devices.length);
      for (const [index, name] of names.entries())
        if (!/~[0-9a-f]{8}$/.test(name)) expect(deviceNameOf(name)).toBe(devices[index]!);
    }),
    { numRuns: 1000 },
  );
});

test("plain names stay what they are", () => {
  const plain = ["bus-4836", "anna@example.org", "Büs_7", "10.0"];
  expect(fileNamesOf(plain)).toEqual(plain);
  expect(fileNamesOf(["anna:pixel 7/x", ".x"])).toEqual(["anna%3Apixel%207%2Fx", "%2Ex"]);
  expect(fileNamesOf(["bus", "Bus", "BUS"])).toEqual(["bus", "%42us", "%42%55S"]);
});

test("deviceNameOf() keeps a percent sign that begins no byte of a character", () => {
  for (const name of ["100%", "50%-off", "%ff", "track"]) expect(deviceNameOf(name)).toBe(name);
});
