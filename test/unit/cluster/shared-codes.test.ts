import { expect, test } from "bun:test";
import { LINK_CODE_MS, type LinkCode } from "../../../src/auth/link-codes.ts";
import { SharedCodes } from "../../../src/cluster/shared-codes.ts";
import { StreamError } from "../../../src/cluster/stream/stream.ts";
import { createManualClock } from "../../../src/model/time/clock.ts";
import { SimulatedBucket, SimulatedValues } from "../../support/stream/simulated-bucket.ts";

const NOW_MS = 1_795_195_200_000;
const USED = { ok: false, error: "used" } as const;
const OLD = { ok: false, error: "old" } as const;

function openNodes(count: number, giveUpMs = 1000) {
  const values = new SimulatedValues();
  return Array.from({ length: count }, () => {
    const bucket = new SimulatedBucket(values);
    const clock = createManualClock(NOW_MS);
    return { bucket, clock, codes: new SharedCodes(bucket, clock, giveUpMs) };
  });
}

const codeOf = (nonce: string, madeMs = NOW_MS): LinkCode => ({ keyId: "k_0Hq3aZ9k", madeMs, nonce });

test("a code signs in once on all nodes, even concurrently, and also after a restart", async () => {
  const nodes = openNodes(3);
  const outcomes = await Promise.all([...nodes, ...nodes].map(({ codes }) => codes.use(codeOf("a"))));
  expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
  expect(outcomes.filter(({ ok }) => !ok)).toEqual(new Array(5).fill(USED));
  const [first] = nodes;
  const restarted = new SharedCodes(first!.bucket, createManualClock(NOW_MS + 1000));
  expect(await restarted.use(codeOf("a"))).toEqual(USED);
  expect((await restarted.use(codeOf("b"))).ok).toBe(true); // It was made before the start.
});

test("a code is good for ten minutes, by clocks that may be a minute apart", async () => {
  const [node] = openNodes(1);
  const { codes, clock } = node!;
  expect((await codes.use(codeOf("a", NOW_MS + 60_000))).ok).toBe(true);
  expect(await codes.use(codeOf("b", NOW_MS + 60_001))).toEqual(OLD);
  clock.advance(LINK_CODE_MS - 1);
  expect((await codes.use(codeOf("c"))).ok).toBe(true);
  clock.advance(1);
  expect(await codes.use(codeOf("d"))).toEqual(OLD);
});

test("a use whose answer was lost is its own when it is tried again", async () => {
  const [node] = openNodes(1);
  node!.bucket.lostAnswers = 1;
  expect((await node!.codes.use(codeOf("a"))).ok).toBe(true);
  expect(await node!.codes.use(codeOf("a"))).toEqual(USED);
});

test("without servers a code does not sign in, and does once they answer", async () => {
  const [node] = openNodes(1, 150);
  node!.bucket.cut();
  expect(await node!.codes.use(codeOf("a"))).toEqual({ ok: false, error: "unreachable" });
  node!.bucket.mend();
  expect((await node!.codes.use(codeOf("a"))).ok).toBe(true);
  node!.bucket.refusal = new StreamError("refused", "the servers don't allow it");
  expect(await node!.codes.use(codeOf("b"))).toEqual({ ok: false, error: "unreachable" });
});
