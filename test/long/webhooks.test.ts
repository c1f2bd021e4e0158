import { RANDOM_SEED } from "../support/random-runs.ts";
import { RUNTIMES } from "../support/server-process.ts";
import { test } from "../system/support/process-test.ts";
import { killAndCompare } from "../system/webhooks/kill.ts";

/* A server that sends webhooks is killed 200 times, at other moments with each seed. */

const ROUNDS = 50;

test.each([0, 1, 2, 3])("every event arrives although the server is killed 50 times (%d)", async (part) => {
  await killAndCompare(RUNTIMES[0]!, ROUNDS, RANDOM_SEED + part);
});
