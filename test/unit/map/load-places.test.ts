import { expect, test } from "bun:test";
import { Scheduler } from "../../../src/lib/schedule/scheduler.ts";
import { createPlacesLoader } from "../../../src/map/load-places.ts";
import { turns } from "../../support/turns.ts";

const FILE = new TextEncoder().encode(
  "2\n53.41058\t-2.97794\tGB\tLiverpool\n52.66472\t-8.62306\tIE\tLuimneach\n",
);

test("places are read when they are first asked for, once for all who ask meanwhile, and kept", async () => {
  const asked: string[] = [];
  const load = createPlacesLoader(async (specifier) => {
    asked.push(specifier);
    return FILE;
  }, new Scheduler());
  expect(asked).toEqual([]);
  const [first, ...others] = await Promise.all(Array.from({ length: 100 }, load));
  expect(new Set(others)).toEqual(new Set([first!]));
  expect(load()).toBe(first!); // At once, from now on.
  expect(asked).toHaveLength(1);
  expect(asked[0]).toEndWith("/data/places/cities.tsv");
});

test("where the file can't be read everybody who waits is told, and the next one has it read again", async () => {
  const answers = [new Error("no such file"), new TextEncoder().encode("nothing"), FILE];
  const load = createPlacesLoader(async () => {
    const answer = answers.shift()!;
    if (answer instanceof Error) throw answer;
    return answer;
  }, new Scheduler());
  const failed = await Promise.allSettled([load(), load()]);
  for (const { status } of failed) expect(status).toBe("rejected");
  expect(async () => load()).toThrow("Cannot read the names of places");
  await turns();
  expect((await load()).nearest(53.41, -2.98)?.name).toBe("Liverpool");
  expect(answers).toEqual([]);
});
