import { expect, test } from "bun:test";
import type { LiveDevices } from "../../../../src/web/devices/live.ts";
import { connectionCard, listLoading } from "../../../../src/web/devices/live-badge.ts";

const UNREACHABLE = "The server can't be reached.";

function liveAs(
  state: LiveDevices["state"],
  { isFilled = false, fault = null }: { readonly isFilled?: boolean; readonly fault?: string | null },
) {
  const done: string[] = [];
  const live = { state, isFilled, fault, wake: () => done.push("wake") } as unknown as LiveDevices;
  return { live, done, tryNow: () => done.push("try now") };
}

/** The values in a template, and in those within it. */
function valuesOf(template: unknown): unknown[] {
  if (typeof template !== "object" || template === null || !("values" in template)) return [template];
  return (template.values as readonly unknown[]).flatMap(valuesOf);
}

test("the list says why there are no devices, and what helps", () => {
  const begun = liveAs("starting", {});
  expect(listLoading(begun.live, begun.tryNow)?.fault).toBeNull();

  const failed = liveAs("reconnecting", { fault: UNREACHABLE });
  const waiting = listLoading(failed.live, failed.tryNow)!;
  expect(waiting.fault).toBe(`The devices can't be loaded. ${UNREACHABLE} Trying again…`);
  expect(waiting.remedy.label).toBe("Try now");

  const refused = liveAs("stopped", { fault: "Not for this key." });
  const stopped = listLoading(refused.live, refused.tryNow)!;
  expect(stopped.fault).toBe("The devices can't be loaded. Not for this key.");
  expect(stopped.remedy.label).toBe("Connect again");
  waiting.remedy.act();
  stopped.remedy.act();
  expect([failed.done, refused.done]).toEqual([["try now"], ["wake"]]);
});

test("a failure stands in the list before the first devices, and over the map from then on", () => {
  for (const isFilled of [false, true]) {
    const { live, tryNow } = liveAs("reconnecting", { isFilled, fault: UNREACHABLE });
    const isOverMap = valuesOf(connectionCard(live, tryNow)).some((value) =>
      String(value).includes(UNREACHABLE),
    );
    expect([isFilled, isOverMap, listLoading(live, tryNow) === null]).toEqual([isFilled, isFilled, isFilled]);
  }
});

test("a connection that only begins again is no failure", () => {
  for (const state of ["live", "reconnecting"] as const) {
    const { live, tryNow } = liveAs(state, { isFilled: true });
    expect(valuesOf(connectionCard(live, tryNow)).map(String)).toEqual(["Symbol(lit-nothing)"]);
  }
});
