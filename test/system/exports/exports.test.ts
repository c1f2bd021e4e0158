import { afterEach, beforeEach, describe, expect } from "bun:test";
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
import { type Client, store } from "../support/client.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: a file that is taken out over the network is whole, or breaks off so that its client knows; who leaves half
 * way, and a server that stops, leave nothing behind.
 * Method: the real process, and more records than all buffers on the way hold.
 */

const STOP_MS_MAX = 5000;
const DEVICES = 40;
const BATCH_RECORDS = 10_000;
const BATCHES = 6;
const LONG = "x".repeat(120);

for (const runtime of RUNTIMES) {
  describe(`on ${runtime.name}`, () => {
    let place: Place;
    let server: ServerProcess;
    let client: Client;

    beforeEach(async () => {
      place = openPlace();
      server = await startReady(runtime, place);
      client = { url: server.url, key: readFirstKey(place) };
    });
    afterEach(() => closePlace(place));

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
    const countLines = (text: string) => text.split("\n").length - 1;

    test("an export has everything, from the archive and from memory, and whoever leaves one half way frees it", async () => {
      await fill(20);
      await server.stop();
      expect((await runCommand(runtime, place, ["seal"])).code).toBe(0);
      server = await startReady(runtime, place);
      client = { ...client, url: server.url };
      await fill(2);
      for (let times = 0; times < 4; times++) {
        const left = (await exportOf(server.url)).body!.getReader();
        expect((await left.read()).done).toBe(false);
        await left.cancel();
      }
      const whole = await askUntilFree(() => exportOf(server.url));
      expect(whole.status).toBe(200);
      expect(countLines(await whole.text())).toBe(2 * BATCHES * BATCH_RECORDS);
      const ended = await server.stop();
      expect(ended.code).toBe(0);
      expect(ended.error).not.toContain('"event":"fault"');
      expect(readdirSync(join(place.dataDir, "archive", "scratch"))).toEqual([]);
    });

    test("a server that stops breaks off what is under way", async () => {
      await fill(2);
      const taken = (await exportOf(server.url)).body!.getReader();
      await taken.read();
      const signalledMs = performance.now();
      server.kill("SIGTERM");
      const { code } = await server.ended;
      expect(code).toBe(0);
      expect(performance.now() - signalledMs).toBeLessThan(STOP_MS_MAX);
      const rest = async () => {
        while (!(await taken.read()).done);
        return "whole";
      };
      expect(await rest().catch(() => "broken off")).toBe("broken off");
      expect(readdirSync(join(place.dataDir, "archive", "scratch"))).toEqual([]);
    });
  });
}

/** A connection that was closed is noticed a moment later. */
async function askUntilFree(ask: () => Promise<Response>): Promise<Response> {
  for (let tries = 0; tries < 50; tries++) {
    const answer = await ask();
    if (answer.status !== 503) return answer;
    await answer.body?.cancel();
    await Bun.sleep(100);
  }
  return ask();
}
