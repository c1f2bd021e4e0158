import { expect, test } from "bun:test";
import { stopInTime } from "../../../../src/cli/serve/run.ts";
import { outcome } from "../../../support/rejection.ts";

/** Time that passes when it is told to, and what is said meanwhile. */
function openStop(close: () => Promise<void>) {
  const calls: (() => void)[] = [];
  const said: unknown[] = [];
  const timers = {
    nowMs: () => 0,
    after(ms: number, call: () => void) {
      expect(ms).toBeLessThan(5000);
      calls.push(call);
      return () => void calls.splice(calls.indexOf(call), 1);
    },
  };
  const log = { warn: (members: object, line: string) => void said.push({ ...members, line }) };
  const stopped = stopInTime({ close }, log, timers, () => ["SELECT 1", "x".repeat(1000)]);
  return { stopped, said, calls };
}

test("stopInTime() says nothing of what ends in time, and leaves no timer", async () => {
  const { stopped, said, calls } = openStop(async () => undefined);
  await stopped;
  expect([said, calls.length]).toEqual([[], 0]);
});

test("stopInTime() gives up on what does not end, and names the statements that still run", async () => {
  const ending = Promise.withResolvers<void>();
  const { stopped, said, calls } = openStop(() => ending.promise);
  for (const call of calls) call();
  await stopped;
  const statements = ["SELECT 1", "x".repeat(300)];
  expect(said).toEqual([
    {
      event: "stop_cut_short",
      statements,
      line: `Not everything ended in time; the archive still runs: ${statements.join("; ")}`,
    },
  ]);
  ending.reject(new Error("too late to be heard"));
});

test("stopInTime() rejects with what closing says", async () => {
  const { stopped } = openStop(() => Promise.reject(new Error("no luck")));
  expect(await outcome(stopped)).toThrow("no luck");
});
