import { expect, test } from "bun:test";
import { shellQuote } from "../../../../src/lib/text/printable.ts";

test("shellQuote() leaves alone what every shell takes as it is", () => {
  for (const word of ["data/local", "/mnt/b-2_c.d", "a=b:c@d,e+f%g"]) expect(shellQuote(word)).toBe(word);
});

test("shellQuote() makes one word that a shell reads to the letter", () => {
  for (const word of ["", "my data", "it's", "$(touch x)", 'a"b`c`', "é\nf", "~", "*", "a\\b", "'"]) {
    const { stdout } = Bun.spawnSync(["sh", "-c", `printf %s ${shellQuote(word)}`]);
    expect(stdout.toString()).toBe(word);
  }
});
