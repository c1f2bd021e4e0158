import { expect, test } from "bun:test";
import { encode } from "uqr";
import { QUIET_ZONE, qrPath } from "../../../../src/web/keys/qr-code.ts";
import { readQrPath } from "../../../support/read-qr.ts";

const TEXT = "owntracks:///config?inline=eyJfdHlwZSI6ImNvbmZpZ3VyYXRpb24ifQ==";

/** The modules that a path covers. */
function drawn({ size, path }: { size: number; path: string }): boolean[][] {
  const rows = Array.from({ length: size }, () => Array<boolean>(size).fill(false));
  for (const [, x, y, width] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g))
    rows[Number(y)]!.fill(true, Number(x), Number(x) + Number(width));
  return rows;
}

test("the path covers the dark modules and no others", () => {
  const { data } = encode(TEXT, { ecc: "M", border: QUIET_ZONE });
  const rows = drawn(qrPath(TEXT));
  expect(rows).toEqual(data);
  expect(rows.flat().filter(Boolean).length).toBeGreaterThan(100);
});

test("a reader of the standard reads the text", () => {
  for (const text of [TEXT, "https://where.example/map/s#wh_".padEnd(76, "x"), "x".repeat(400)]) {
    const { path, size } = qrPath(text);
    expect(readQrPath(path, size)).toBe(text);
  }
});

test("four modules round the code are light", () => {
  const rows = drawn(qrPath(TEXT));
  const size = rows.length;
  for (const [y, row] of rows.entries())
    for (const [x, isDark] of row.entries())
      if (Math.min(x, y, size - 1 - x, size - 1 - y) < 4) expect([x, y, isDark]).toEqual([x, y, false]);
});
