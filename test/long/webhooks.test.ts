import { RANDOM_SEED } from "../support/random-runs.ts";
import { RUNTIMES } from "../support/server-process.ts";
import { test } from "../system/support/process-test.ts";
import { killAndCompare } from "../system/webhooks/kill.ts";

/* A server that sends webhooks is killed 200 times. */

test("every event arrives although the server is killed 200 times", async () => {
  await killAndCompare(RUNTIMES[0]!, 200, RANDOM_SEED);
});
