import { afterEach, beforeEach, describe, expect } from "bun:test";
import { readdirSync, readFileSync, readlinkSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  readFirstKey,
  startReady,
  startServing,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";
import { get, store } from "../support/client.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: a start that has no file descriptor left for a segment of the log waits for one: it neither ends nor goes
 * without the segment. Method: the first segment is a pipe, so that replay stops in it; meanwhile the process is denied
 * any further descriptor, and later given them again. On Bun alone: Deno itself panics where an error is made of the
 * missing descriptor while it has none left to look at its own stack with, so there the service manager tries again.
 */

const prlimit = Bun.which("prlimit");
if (prlimit === null) console.warn("Left out: the start without descriptors, which needs prlimit.");

function setDescriptorsMax(pid: number, count: number): void {
  const { exitCode, stderr } = Bun.spawnSync([prlimit!, "--pid", `${pid}`, `--nofile=${count}:`]);
  if (exitCode !== 0) throw new Error(stderr.toString());
}

/** Below the descriptor that reads the pipe, and below any that is free. */
function descriptorsUntil(pid: number, pipe: string): number | null {
  const directory = `/proc/${pid}/fd`;
  const taken = new Set(readdirSync(directory).map(Number));
  const reading = [...taken].find((descriptor) => {
    try {
      return readlinkSync(join(directory, `${descriptor}`)) === pipe;
    } catch {
      return false; // Closed since it was listed.
    }
  });
  if (reading === undefined) return null;
  let free = 0;
  while (taken.has(free)) free++;
  return Math.min(free, reading);
}

for (const runtime of prlimit === null ? [] : RUNTIMES.filter(({ name }) => name === "Bun")) {
  describe(`on ${runtime.name}`, () => {
    let place: Place;
    beforeEach(() => {
      place = openPlace();
    });
    afterEach(() => closePlace(place));

    test("a start without descriptors waits, and then has every acknowledged record", async () => {
      for (const name of ["first", "second"]) {
        const server = await startReady(runtime, place);
        const client = { url: server.url, key: readFirstKey(place) };
        await store(client, [{ device_id: name, timestamp: Date.now(), latitude: 1, longitude: 2 }]);
        await server.stop();
      }
      const wal = join(place.dataDir, "wal");
      const first = join(wal, readdirSync(wal).sort()[0]!);
      const bytes = readFileSync(first);
      renameSync(first, `${first}.aside`);
      Bun.spawnSync(["mkfifo", first]);

      const server = await startServing(runtime, place);
      const writing = Bun.spawn(["sh", "-c", `cat "${first}.aside" - > "${first}"`], { stdin: "pipe" });
      let limit: number | null = null;
      await until(() => {
        limit = descriptorsUntil(server.pid, first);
        return limit !== null;
      });
      setDescriptorsMax(server.pid, limit!);
      writing.stdin.end();
      await writing.exited;
      await server.says(/The start is delayed, retrying: Cannot .*(EMFILE|ENFILE)/);
      rmSync(first);
      writeFileSync(first, bytes, { mode: 0o600 });
      setDescriptorsMax(server.pid, 1024);
      await server.says(/Ready after .* with 2 records of 2 devices/);
      expect(server.error).not.toContain("Damaged");
      const answer = await get({ url: server.url, key: readFirstKey(place) }, "/api/v1/locations/current");
      const { locations } = (await answer.json()) as { locations: unknown[] };
      expect(locations.length).toBe(2);
      await server.stop();
    });
  });
}
