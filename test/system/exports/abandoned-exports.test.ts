import { afterAll, beforeAll, describe, expect } from "bun:test";
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
  type ServerProcess,
  startReady,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";
import { type Client, store } from "../support/client.ts";
import { type PipedFile, pipeFile } from "../support/piped-file.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: exports that are given up while a native call is under way end neither the server nor its exports.
 * Method: the real process. A part of its archive becomes a pipe that nobody writes to, so the call of DuckDB that
 * reads it does not return, however it is broken off.
 */

const DAY_MS = 86_400_000;
const DAYS_AGO = 20;
const RECORDS = 50;
/** Texts and Parquet are read by different calls. */
const FORMATS = ["parquet", "ndjson"];
/** So that there are no slots left if each of a format keeps its own. */
const ROUNDS = 2;

const [BUN, DENO] = RUNTIMES;
const DENO_ALONE: Runtime = {
  name: "Deno",
  command: (permissions) => DENO!.command(permissions).filter((arg) => !arg.startsWith("--allow-run")),
};

let place: Place;
let server: ServerProcess;
let client: Client;
let piped: PipedFile;

/** A server with an archived day. What comes before is not what these tests are about, so one runtime does it. */
async function serveArchivedDay(runtime: Runtime): Promise<void> {
  place = openPlace();
  server = await startReady(BUN!, place);
  client = { url: server.url, key: readFirstKey(place) };
  const startMs = Math.floor(Date.now() / DAY_MS - DAYS_AGO) * DAY_MS;
  const reports = Array.from({ length: RECORDS }, (_, row) => ({
    device_id: `bus-${row % 5}`,
    timestamp: startMs + row * 1000,
    latitude: 53.4,
    longitude: -2.9,
  }));
  await store(client, reports);
  await server.stop();
  expect((await runCommand(BUN!, place, ["seal"])).code).toBe(0);
  server = await startReady(runtime, place);
  client = { ...client, url: server.url };
}

/** The server has read the day's file once, and believes it from then on: now the file is a pipe. */
async function holdUp(): Promise<void> {
  await expectWhole();
  const archive = join(place.dataDir, "archive");
  const part = readdirSync(archive, { recursive: true, encoding: "utf8" }).find((name) =>
    /^day=.*\.parquet$/.test(name),
  );
  piped = pipeFile(join(archive, part!));
}

function exportAs(format: string, signal?: AbortSignal): Promise<Response> {
  return fetch(`${client.url}/api/v1/export?format=${format}&start_date=2026-01-01`, {
    headers: { authorization: `Bearer ${client.key}`, "accept-encoding": "identity" },
    ...(signal === undefined ? {} : { signal }),
  });
}

/** As soon as there is a slot: it waits for those that end. */
function expectWhole(): Promise<void> {
  return until(async () => {
    const answer = await exportAs("ndjson");
    const text = await answer.text();
    if (answer.status === 503) return false;
    expect(answer.status).toBe(200);
    expect(text.split("\n")).toHaveLength(RECORDS + 1);
    return true;
  });
}

/** Asks until there is a slot, and leaves once so many calls stand still. */
function abandon(format: string, stuck: number): Promise<void> {
  return until(async () => {
    const left = new AbortController();
    const answer = exportAs(format, left.signal).then(
      ({ status }) => status,
      () => null,
    );
    const first = await Promise.race([piped.whenStuck(server.pid, stuck), answer]);
    if (first === 503) return false;
    expect(first).toBe(undefined);
    left.abort();
    expect(await answer).toBe(null);
    return true;
  });
}

async function expectStopped(): Promise<void> {
  expect((await server.stop()).code).toBe(0);
  expect(server.error).not.toMatch(/"event":"(crash|fault)"/);
}

const scratch = () => readdirSync(join(place.dataDir, "archive", "scratch"));

for (const runtime of RUNTIMES) {
  describe.if(process.platform === "linux")(`on ${runtime.name}`, () => {
    beforeAll(() => serveArchivedDay(runtime));
    afterAll(() => closePlace(place));

    test("exports that are left under a native call end with their processes, and their slots are free again", async () => {
      await holdUp();
      for (let round = 0; round < ROUNDS; round++) {
        for (const format of FORMATS) {
          await abandon(format, 1);
          await piped.whenStuck(server.pid, 0); // Nobody lets the call go, so a kill has ended it.
        }
      }
      piped.restore();
      await expectWhole();
      await until(() => scratch().length === 0);
    });

    test("a stop doesn't wait for a native call of an export", async () => {
      await holdUp();
      const taken = exportAs("parquet").catch(() => null);
      await piped.whenStuck(server.pid, 1);
      await expectStopped();
      await taken;
      expect(scratch()).toEqual([]);
    });
  });
}

describe.if(process.platform === "linux" && DENO !== undefined)("on Deno without --allow-run", () => {
  beforeAll(() => serveArchivedDay(DENO_ALONE));
  afterAll(() => closePlace(place));

  test("a thread ends by itself: its slot is taken until the native call has returned", async () => {
    await holdUp();
    expect(server.error).toContain("without --allow-run");
    await abandon("parquet", 1);
    await abandon("ndjson", 2);
    expect((await exportAs("ndjson")).status).toBe(503);
    piped.release();
    piped.restore();
    await expectWhole();
    await until(() => scratch().length === 0);
  });

  test("a stop doesn't wait for it either, and the next start tidies up", async () => {
    await holdUp();
    const taken = exportAs("parquet").catch(() => null);
    await piped.whenStuck(server.pid, 1);
    await expectStopped();
    await taken;
    piped.restore();
    server = await startReady(DENO_ALONE, place);
    expect(scratch()).toEqual([]);
    await server.stop();
  });
});
