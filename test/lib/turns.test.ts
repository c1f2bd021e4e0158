import { expect, test } from "bun:test";
import { Turns } from "../../src/lib/turns.ts";

test("Turns runs so many at once, the others in their order, and goes on after a failure", async () => {
  const turns = new Turns(2);
  const begun: number[] = [];
  const gates = Array.from({ length: 5 }, () => Promise.withResolvers<number>());
  const results = gates.map(({ promise }, index) =>
    turns.run(() => {
      begun.push(index);
      return promise;
    }),
  );
  await Bun.sleep(0);
  expect(begun).toEqual([0, 1]);
  gates[1]!.reject(new Error("broken"));
  expect(results[1]).rejects.toThrow("broken");
  await Bun.sleep(0);
  expect(begun).toEqual([0, 1, 2]);
  for (const { resolve } of gates) resolve(7);
  expect(await Promise.all(results.toSpliced(1, 1))).toEqual([7, 7, 7, 7]);
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  expect(await turns.run(async () => 8)).toBe(8);
});
