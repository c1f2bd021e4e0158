import { RANDOM_SEED } from "../../support/random-runs.ts";
import { RUNTIMES } from "../../support/server-process.ts";
import { test } from "../support/process-test.ts";
import { killAndCompare } from "./kill.ts";

/*
 * Goal: no crash loses an event on its way to a webhook, or changes the order of a device's events.
 * Method: a server that is killed at random moments while it takes reports and sends webhooks; test/long does it more
 * often.
 */

test("every event arrives, in order for each device, although the server is killed", async () => {
  await killAndCompare(RUNTIMES[0]!, 6, RANDOM_SEED);
});
