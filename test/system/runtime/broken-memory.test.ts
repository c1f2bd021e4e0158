import { afterEach, beforeEach, expect } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  type Runtime,
  readFirstKey,
  runCommand,
  startReady,
} from "../../support/server-process.ts";
import { type Client, get, post, store } from "../support/client.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: an entry that memory can't take in ends the process and nothing else: it is lost nowhere, and no start fails
 * for it. Method: the real process, with a memory that throws in the middle of one batch.
 */

const BROKEN = join(import.meta.dir, "broken-memory.ts");

/** The same, with the broken memory. */
function broken({ name, command }: Runtime): Runtime {
  return { name, command: (permissions) => [...command(permissions).slice(0, -1), BROKEN] };
}

const at = (device_id: string) => ({ device_id, timestamp: Date.now() - 60_000, latitude: 1, longitude: 2 });

async function devicesOf(client: Client): Promise<string[]> {
  const { locations } = (await (await get(client, "/api/v1/locations/current")).json()) as {
    locations: { device_id: string }[];
  };
  return locations.map(({ device_id }) => device_id).sort();
}

async function damagedOf({ url }: Client): Promise<number> {
  return ((await (await fetch(`${url}/ready`)).json()) as { damaged: number }).damaged;
}

let place: Place;
beforeEach(() => {
  place = openPlace();
});
afterEach(() => closePlace(place));

for (const runtime of RUNTIMES) {
  test(`on ${runtime.name}: the server ends with 1 and names the entry; a start with a whole memory has it`, async () => {
    const server = await startReady(broken(runtime), place);
    const client = { url: server.url, key: readFirstKey(place) };
    await store(client, [at("before")]);
    await post(client, [at("half"), at("boom")]).catch(() => undefined);
    const { code, error } = await server.ended;
    const said = error
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .at(-1);
    expect([code, said.event, said.msg]).toEqual([
      1,
      "crash",
      'A bug stopped the server: Cannot apply entry 2 of the log (app "default", reports: 2) to memory: ' +
        "Array buffer allocation failed",
    ]);

    const again = await startReady(runtime, place);
    const later = { ...client, url: again.url };
    expect([await devicesOf(later), await damagedOf(later)]).toEqual([["before", "boom", "half"], 0]);
    await again.stop();
  });

  test(`on ${runtime.name}: a start that meets the entry sets it aside, counts it, and has none of it`, async () => {
    const server = await startReady(runtime, place);
    const client = { url: server.url, key: readFirstKey(place) };
    await store(client, [at("before")]);
    await store(client, [at("half"), at("boom")]);
    await store(client, [at("after")]);
    await server.stop();
    const before = await runCommand(broken(runtime), place, ["verify"]);
    expect([before.code, before.out + before.error]).toEqual([
      1,
      expect.stringContaining("entry 2 of the log"),
    ]);

    const started = await startReady(broken(runtime), place);
    const later = { ...client, url: started.url };
    expect([await devicesOf(later), await damagedOf(later)]).toEqual([["after", "before"], 1]);
    await store(later, [at("new")]);
    const { error } = await started.stop();
    expect(error).toContain("entry 2 of the log");
    const kept = readdirSync(join(place.dataDir, "damaged")).filter((name) => name.endsWith(".damaged"));
    expect(kept).toHaveLength(1);

    // It is not in the log any more, and is not forgotten either.
    const after = await runCommand(broken(runtime), place, ["verify"]);
    expect([after.code, after.out + after.error]).toEqual([1, expect.stringContaining(kept[0]!)]);
    const last = await startReady(broken(runtime), place);
    const lastClient = { ...client, url: last.url };
    expect([await devicesOf(lastClient), await damagedOf(lastClient)]).toEqual([
      ["after", "before", "new"],
      1,
    ]);
    expect((await last.stop()).error).not.toContain("Entry 2");
  });
}
