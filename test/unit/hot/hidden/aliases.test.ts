import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Aliases } from "../../../../src/hot/hidden/aliases.ts";
import { stageOf } from "../../../../src/model/device-alias.ts";
import type { DeviceId, UserId } from "../../../../src/model/ids.ts";

/* A device that was assigned shows as the end of its chain, and the nearest record of an instant wins. */

const id = (text: string) => text as DeviceId;
const user = (text: string) => text as UserId;

function aliasesOf(...links: readonly [from: string, to: string, user?: string][]): Aliases {
  const aliases = new Aliases();
  for (const [from, to, name] of links)
    aliases.add(id(from), {
      id: `${from}-${to}`,
      number: 1,
      toId: id(to),
      userId: name === undefined ? null : user(name),
    });
  return aliases;
}

const named = (aliases: Aliases, shownId: string) =>
  aliases.shownAs(id(shownId)).map(({ deviceId, userId, rank }) => [String(deviceId), userId, rank]);

describe("Aliases", () => {
  test("a device shows as the one that it was assigned to", () => {
    const aliases = aliasesOf(["a", "b", "u"]);
    const alias = { deviceId: id("a"), shownId: id("b"), via: [id("b")], userId: user("u"), rank: 1 };
    expect(aliases.of(id("a"))).toEqual(alias);
    expect(aliases.of(id("b"))).toBeNull();
    expect(aliases.shownAs(id("b"))).toEqual([alias]);
    expect(aliases.shownAs(id("a"))).toEqual([]);
    expect(aliases.all()).toEqual([alias]);
  });

  test("a chain shows as its end, in the last user that is named, the nearest device first", () => {
    const aliases = aliasesOf(["x", "a", "first"], ["y", "x"], ["a", "b"], ["z", "b", "own"]);
    expect(named(aliases, "b")).toEqual([
      ["a", null, 1],
      ["x", user("first"), 2],
      ["y", user("first"), 3],
      ["z", user("own"), 4],
    ]);
    expect(aliases.shownAs(id("a"))).toEqual([]);
    expect(aliases.of(id("y"))?.via).toEqual([id("x"), id("a"), id("b")]);
    aliases.add(id("b"), { id: "last", number: 9, toId: id("c"), userId: user("late") });
    expect(named(aliases, "c").map(([name, name2]) => [name, name2])).toEqual(
      ["b", "a", "x", "y", "z"].map((name) => [name, user("late")]),
    );
  });

  test("a device that is assigned to a user alone shows as itself, nearer than those that show as it", () => {
    const aliases = aliasesOf(["x", "a", "first"]);
    const stage = stageOf(id("a"));
    aliases.add(id("a"), { id: "own", number: 2, toId: stage, userId: user("u") });
    expect(named(aliases, "a")).toEqual([
      ["a", user("u"), 1],
      ["x", user("u"), 2],
    ]);
    expect(aliases.of(id("x"))).toMatchObject({ shownId: id("a"), via: [id("a"), stage] });
    expect([aliases.hasStage(id("a")), aliases.hasStage(id("x"))]).toEqual([true, false]);
    aliases.remove(id("a"));
    expect(named(aliases, "a")).toEqual([["x", user("first"), 1]]);
    expect(aliases.of(id("a"))).toBeNull();
  });

  test("undoing the last of a chain brings the device back with those that show as it", () => {
    const aliases = aliasesOf(["x", "a"], ["a", "b"]);
    const { version } = aliases;
    aliases.remove(id("a"));
    expect(aliases.version).not.toBe(version);
    expect(aliases.of(id("a"))).toBeNull();
    expect(named(aliases, "a")).toEqual([["x", null, 1]]);
    expect(aliases.shownAs(id("b"))).toEqual([]);
  });

  test("each device shows as the device at which following the links one by one ends", () => {
    const ids = ["a", "b", "c", "d", "e", "f"].map(id);
    fc.assert(
      fc.property(fc.array(fc.nat(5), { minLength: 6, maxLength: 6 }), (targets) => {
        const aliases = new Aliases();
        // A link always leads to a device that comes later, so there are no rings.
        const links = targets.map((target, from) => (target > from ? target : null));
        links.forEach((to, from) => {
          if (to !== null) aliases.add(ids[from]!, { id: "c", number: 1, toId: ids[to]!, userId: null });
        });
        const endOf = (at: number): number => (links[at] === null ? at : endOf(links[at]!));
        ids.forEach((deviceId, at) => {
          expect(aliases.of(deviceId)?.shownId ?? deviceId).toBe(ids[endOf(at)]!);
        });
        for (const shownId of ids)
          expect(aliases.shownAs(shownId).map(({ rank }) => rank)).toEqual(
            aliases.shownAs(shownId).map((_, index) => index + 1),
          );
      }),
    );
  });
});
