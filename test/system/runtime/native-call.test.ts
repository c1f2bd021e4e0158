import { afterEach, beforeEach, expect } from "bun:test";
import { join } from "node:path";
import { closePlace, openPlace, type Place, RUNTIMES, startReady } from "../../support/server-process.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: a process that ends while native code of its own is under way ends as it says, and not by a signal.
 * Method: the real process, in which a statement that goes on for hours was begun before.
 */

let place: Place;
beforeEach(() => {
  place = openPlace();
});
afterEach(() => closePlace(place));

for (const { name, command } of RUNTIMES) {
  test(`on ${name}: SIGTERM ends the server with 0 while a call of DuckDB is under way`, async () => {
    const script = join(import.meta.dir, "native-call.ts");
    const runtime = {
      name,
      command: (to: Parameters<typeof command>[0]) => [...command(to).slice(0, -1), script],
    };
    const server = await startReady(runtime, place);
    const { code, error } = await server.stop();
    expect([code, error]).toEqual([0, expect.stringContaining("Stopped.")]);
  });
}
