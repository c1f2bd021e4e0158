import { afterAll, beforeAll, describe, expect } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  readFirstKey,
  runCommand,
  type ServerProcess,
  startReady,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";
import { type Client, store } from "../support/client.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: a file that is taken out over the network is whole, or breaks off so that its client knows; who leaves half
 * way, and a server that stops, leave nothing behind.
 * Method: the real process, and more records than all buffers on the way hold.
 */

const DEVICES = 40;
const BATCH_RECORDS = 10_000;
const BATCHES = 6;
const LONG = "x".repeat(120);

for (const runtime of RUNTIMES) {
  describe(`on ${runtime.name}`, () => {
    let place: Place;
    let server: ServerProcess;
    let client: Client;

    beforeAll(async () => {
      place = openPlace();
      server = await startReady(runtime, place);
      client = { url: server.url, key: readFirstKey(place) };
      await fill(20);
      await server.stop();
      expect((await runCommand(runtime, place, ["seal"])).code).toBe(0);
      server = await startReady(runtime, place);
      client = { ...client, url: server.url };
      await fill(2);
    });
    afterAll(() => closePlace(place));

    /** Of two days ago, so that any day that begins meanwhile is another. */
    async function fill(daysAgo: number): Promise<void> {
      const startMs = Math.floor(Date.now() / 86_400_000 - daysAgo) * 86_400_000;
      for (let batch = 0; batch < BATCHES; batch++) {
        const reports = Array.from({ length: BATCH_RECORDS }, (_, row) => ({
          device_id: `bus-${row % DEVICES}`,
          timestamp: startMs + (batch * BATCH_RECORDS + row) * 10,
          ...{ latitude: 53.4 + row / 1e5, longitude: -2.9, brand: LONG, model: LONG, os_version: LONG },
        }));
        await store(client, reports, "ndjson.zst");
      }
    }

    const exportOf = (url: string) =>
      fetch(`${url}/api/v1/export?format=ndjson&start_date=2026-01-01`, {
        headers: { authorization: `Bearer ${client.key}`, "accept-encoding": "identity" },
      });
    const scratchFiles = () => readdirSync(join(place.dataDir, "archive", "scratch"));
    const countLines = (text: string) => text.split("\n").length - 1;

    test("an export has everything, from the archive and from memory, and whoever leaves one half way frees it", async () => {
      for (let times = 0; times < 4; times++) {
        const left = (await exportOf(server.url)).body!.getReader();
        expect((await left.read()).done).toBe(false);
        await left.cancel();
      }
      const whole = await askUntilFree(() => exportOf(server.url));
      expect(whole.status).toBe(200);
      expect(countLines(await whole.text())).toBe(2 * BATCHES * BATCH_RECORDS);
      expect(server.error).not.toContain('"event":"fault"');
      await until(() => scratchFiles().length === 0);
    });

    test("a server that stops breaks off what is under way", async () => {
      const taken = (await exportOf(server.url)).body!.getReader();
      await taken.read();
      server.kill("SIGTERM");
      const { code, error } = await server.ended;
      expect(code).toBe(0);
      expect(error).not.toContain("stop_cut_short");
      const rest = async () => {
        while (!(await taken.read()).done);
        return "whole";
      };
      expect(await rest().catch(() => "broken off")).toBe("broken off");
      expect(scratchFiles()).toEqual([]);
    });
  });
}

/** Asks until a slot is free: that a connection was closed is noticed a moment later. */
async function askUntilFree(ask: () => Promise<Response>): Promise<Response> {
  let answer = await ask();
  await until(async () => {
    if (answer.status !== 503) return true;
    await answer.body?.cancel();
    answer = await ask();
    return answer.status !== 503;
  });
  return answer;
}
