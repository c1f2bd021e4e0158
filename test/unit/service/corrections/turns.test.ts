import { expect, test } from "bun:test";
import { ok } from "../../../../src/lib/result.ts";
import { nextTurn } from "../../../../src/lib/schedule/timers.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import { Turns } from "../../../../src/service/corrections/turns.ts";
import { outcome } from "../../../support/rejection.ts";

const FLEET = "fleet" as AppId;
const OTHER = "other" as AppId;

/** Work that runs until it is ended, and notes when it begins. */
function createWorks() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    work: (name: string) => async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      return ok(name);
    },
    async end(name: string): Promise<void> {
      ends.get(name)!();
      await nextTurn();
    },
  };
}

function createOwner(appId: AppId, keyId: string) {
  const leaving = new AbortController();
  return { appId, keyId, signal: leaving.signal, leave: () => leaving.abort(new Error("left")) };
}

const REFUSED = {
  ok: false,
  error: {
    kind: "unavailable",
    message: "too many corrections of the app wait for their turn",
    retryAfterSeconds: 5,
  },
} as const;

test("Turns run one correction of an app at a time, its keys by turns, and apps beside each other", async () => {
  const turns = new Turns();
  const { begun, work, end } = createWorks();
  const run = (appId: AppId, keyId: string, name: string) => turns.run(createOwner(appId, keyId), work(name));
  const all = [
    run(FLEET, "a", "a1"),
    run(FLEET, "a", "a2"),
    run(FLEET, "a", "a3"),
    run(FLEET, "b", "b1"),
    run(OTHER, "c", "c1"),
  ];
  await Promise.resolve();
  expect([begun, turns.waiting]).toEqual([["a1", "c1"], 3]);
  await end("a1");
  await end(begun[2]!);
  expect(begun.slice(2).sort()).toEqual(["a2", "b1"]);
  await end(begun[3]!);
  expect(begun.at(-1)).toBe("a3");
  await end("a3");
  await end("c1");
  expect(await Promise.all(all)).toEqual(["a1", "a2", "a3", "b1", "c1"].map((name) => ok(name)));
  expect(turns.waiting).toBe(0);
});

test("Turns refuse the last of the key with the most if too many of an app wait", async () => {
  const turns = new Turns(3);
  const { begun, work, end } = createWorks();
  const run = (appId: AppId, keyId: string, name: string) => turns.run(createOwner(appId, keyId), work(name));
  const first = run(FLEET, "a", "a0");
  const greedy = ["a1", "a2", "a3"].map((name) => run(FLEET, "a", name));
  expect(await run(FLEET, "a", "a4")).toEqual(REFUSED);
  const modest = run(FLEET, "b", "b1"); // Takes the place of a3.
  expect(await greedy[2]!).toEqual(REFUSED);
  const elsewhere = run(OTHER, "c", "c1");
  await Promise.resolve();
  expect(begun).toEqual(["a0", "c1"]);
  await end("c1");
  await end("a0");
  while (turns.waiting > 0) await end(begun.at(-1)!);
  await end(begun.at(-1)!);
  const rest = await Promise.all([first, greedy[0]!, greedy[1]!, modest, elsewhere]);
  expect(rest.map((each) => each.ok && each.value)).toEqual(["a0", "a1", "a2", "b1", "c1"]);
});

test("Turns forget a request whose client leaves while it waits", async () => {
  const turns = new Turns(1);
  const { begun, work, end } = createWorks();
  const first = turns.run(createOwner(FLEET, "a"), work("a1"));
  const owner = createOwner(FLEET, "b");
  const left = turns.run(owner, work("b1"));
  owner.leave();
  expect(await outcome(left)).toThrow("left");
  const next = turns.run(createOwner(FLEET, "c"), work("c1"));
  await end("a1");
  await end("c1");
  expect([await first, await next, begun]).toEqual([ok("a1"), ok("c1"), ["a1", "c1"]]);
  expect(await outcome(turns.run(owner, work("b2")))).toThrow("left");
});
