import { expect, test } from "bun:test";
import type { LifeStep } from "../../support/corrections/life-steps.ts";
import { liveAgain, liveLives } from "../../support/corrections/lives.ts";

/**
 * Goal: what `corrections-agree.test.ts` says of a single process holds for every node of a cluster, whichever of them
 * a request goes to and whenever each of them seals, erases its files, or starts anew.
 * Method: the same lives, of three nodes over one simulated stream that is purged of what no node needs. Each step is
 * one node's; nodes end, stay away for some steps, and are replaced by new ones that copy another's files. After each
 * step every node that is up answers as the model does. In the end all days are archived on all nodes: then no node has
 * an erased record in any file, and the stream has no message from before an erasure. `test/long/corrections.test.ts`
 * does it 400 times.
 */

test("every node of a cluster answers as the model does, and none keeps what was erased", async () => {
  const { lives, corrections, erasures, finished, seals } = await liveLives(20, { nodes: 3 });
  for (const count of [corrections, erasures, finished, seals]) expect(count).toBeGreaterThan(0);
  expect(lives).toBeGreaterThan(0);
}, 240_000);

const AT_MS = Date.UTC(2026, 0, 14, 23, 59);
const QUIETLY = { sealsMeanwhile: false, fault: null };

const report = (afterMs: number, user_id: string | null, more: object = {}) => ({
  ...{ device_id: "a", timestamp: AT_MS + afterMs, latitude: 42.36, longitude: -71.05, user_id },
  ...more,
});

/** Records whose archived part names another user than their late one, or one of the two names none. */
const SPLIT_RECORDS = {
  seed: 1,
  first: [report(0, "u", { speed: 8.3 }), report(1, "u", { altitude: 7 }), report(2, "v"), report(3, null)],
  steps: [
    { does: "wait", hours: 24 },
    ...[0, 1, 2].map((node): LifeStep => ({ does: "seal", fault: null, node })),
    {
      does: "report",
      reports: [
        report(0, null, { latitude: 1 }),
        report(1, "v", { latitude: 2 }),
        report(2, "u"),
        report(3, "u"),
      ],
      ...QUIETLY,
      node: 0,
    },
  ] satisfies LifeStep[],
};

const ERASE_U = { does: "erase", wanted: { user_id: "u" }, ...QUIETLY, node: 0 } as const;
const FINISH_ALL = [2, 0, 1].map((node): LifeStep => ({ does: "finish", fault: null, node }));

test("a node with late rows erases the same records of a user as one that has archived them", async () => {
  await liveAgain({ ...SPLIT_RECORDS, steps: [...SPLIT_RECORDS.steps, ERASE_U, ...FINISH_ALL] }, 3);
});

test("so does a node that was away, and takes the erasure from the stream at its start", async () => {
  const away = { does: "restart", how: "kill", staysAway: true, node: 1 } as const;
  await liveAgain({ ...SPLIT_RECORDS, steps: [...SPLIT_RECORDS.steps, away, ERASE_U, ...FINISH_ALL] }, 3);
});

test("a finished erasure of the stream erases what comes before it once more, and nothing that comes later", async () => {
  const again = [report(0, "u"), report(60_000, "u"), report(60_000, "v", { device_id: "b" })];
  for (const how of ["kill", "backup"] as const) // `backup`: a new node copies another's files.
    await liveAgain(
      {
        seed: 1,
        first: [report(0, "u"), report(1, "v"), report(60_000, "u")],
        steps: [
          ERASE_U,
          { does: "report", reports: again, ...QUIETLY, node: 2 },
          ...FINISH_ALL,
          { does: "restart", how, staysAway: false, node: 1 },
          { does: "wait", hours: 24 },
          { does: "seal", fault: null, node: 1 },
          { does: "restart", how: "kill", staysAway: false, node: 1 },
        ],
      },
      3,
    );
});

test("messages with reports of a day of which nothing is left are purged, although no archive has the day", async () => {
  const erase = { does: "erase", wanted: { device_id: "a" }, ...QUIETLY, node: 0 } as const;
  await liveAgain({ seed: 1, first: [report(0, "u"), report(1, "v")], steps: [erase, ...FINISH_ALL] }, 3);
});
