import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createKeys } from "./support/key-guesses.ts";

/*
 * Goal: how long a refusal takes says nothing of how much of a key was right. Method: a key is hashed whole before
 * anything is compared, and only hashes are. `test/long/security/key-timing.test.ts` measures it.
 */

const { store, texts } = await createKeys(50);

test("find() hashes before it compares, and looks up by the hash alone", () => {
  const source = readFileSync(join(import.meta.dir, "../../../src/auth/key-store.ts"), "utf8");
  const uses = source.split("\n").filter((line) => line.includes("keyText"));
  expect(uses.map((line) => line.trim())).toEqual([
    "find(keyText: string): KeyLookup;",
    "find: (keyText) => lookUp(file.value.byHash.get(hashKey(keyText))),",
  ]);
});

test("what is kept of a key is a hash, which opens nothing itself", () => {
  for (const [index, { sha256, lastFour, ...rest }] of store.list().entries()) {
    const text = texts[index]!;
    expect(sha256).toBe(createHash("sha256").update(text).digest("hex"));
    expect(text.endsWith(lastFour)).toBeTrue();
    expect(JSON.stringify(rest)).not.toContain(text.slice(3, 12));
    for (const guess of [sha256, sha256.toUpperCase(), `wh_${sha256}`])
      expect(store.find(guess).kind).toBe("unknown");
  }
});
