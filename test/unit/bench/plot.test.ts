import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

test.each(["growth", "year"])("the plot of %s says what it shows to those who can't see it", (name) => {
  const svg = readFileSync(join(import.meta.dir, `../../../bench/results/${name}.svg`), "utf8");
  expect(svg).toMatch(/^<svg [^>]*>\s*<title>[^<]+<\/title>/);
});
