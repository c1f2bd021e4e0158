import { expect } from "bun:test";
import { RANDOM_SEED } from "../../../support/random-runs.ts";
import {
  type Place,
  type Runtime,
  readFirstKey,
  runCommand,
  startReady,
} from "../../../support/server-process.ts";
import { runSchemathesis } from "./schemathesis.ts";

const SEED = Number(process.env.WHEREHOUSE_FUZZ_SEED ?? RANDOM_SEED);
const WHO_MAY_ASK_ALL = ["--app", "default", "--tier", "unlimited"].concat(
  ["read", "write", "edit", "erase", "manage", "operate"].flatMap((permission) => [
    "--permission",
    permission,
  ]),
);
const MS_PER_DAY = 86_400_000;

/**
 * Lets Schemathesis ask a server over the network, with reports of today in memory and older ones in the archive.
 * `examples` are the requests of each operation.
 */
export async function fuzzServer(
  program: string,
  runtime: Runtime,
  place: Place,
  examples: number,
): Promise<void> {
  const server = await startReady(runtime, place, ["--seal-every", "1m"]);
  await report(server.url, readFirstKey(place));
  await server.stop();
  expect((await runCommand(runtime, place, ["seal"])).out).toContain("day");
  const made = await runCommand(runtime, place, ["keys", "create", ...WHO_MAY_ASK_ALL]);
  const key = made.out.trim();
  const { url, stop } = await startReady(runtime, place);

  const { directory } = place;
  const run = await runSchemathesis({
    program,
    url,
    key,
    directory,
    examples,
    seed: SEED,
  });
  const { findings, printed } = run;
  const told = `with WHEREHOUSE_FUZZ_SEED=${SEED}: ${printed.slice(0, 20_000)}`;
  expect(findings.failures, told).toEqual([]);
  expect(findings.errors, told).toEqual([]);
  expect(findings.complete, told).toBeTrue();
  // Its key was taken: an operation that only ever refuses says nothing.
  expect([findings.warnings.missing_auth, findings.warnings.unused_openapi_auth], told).toEqual([[], []]);
  expect(findings.operations.tested).toBe(findings.operations.selected);
  expect(findings.test_cases.generated).toBeGreaterThan(500);
  expect((await stop()).error).not.toContain("Failed to answer");
}

/** The device and user that the document's examples name, today and in days that are due for the archive. */
async function report(url: string, key: string): Promise<void> {
  const locations = [0, 1, 10, 11, 40].flatMap((days) =>
    Array.from({ length: 50 }, (_, minute) => ({
      device_id: minute % 2 === 0 ? "bus-4836" : `bus-${minute}`,
      user_id: "driver-7",
      timestamp: Date.now() - days * MS_PER_DAY - minute * 60_000,
      latitude: 53.41,
      longitude: -2.98,
      horizontal_accuracy: minute,
    })),
  );
  const response = await fetch(`${url}/ingest/v1/locations`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ locations }),
  });
  expect(await response.json()).toMatchObject({ accepted: locations.length });
}
