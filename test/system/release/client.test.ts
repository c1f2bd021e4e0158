import { afterAll, beforeAll, expect } from "bun:test";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import {
  type EventsMessage,
  type Report,
  type WatchEvent,
  Wherehouse,
  WherehouseError,
} from "../../../deploy/client/wherehouse.ts";
import { CLIENT_NAME, packClient } from "../../../deploy/release/client-package.ts";
import { nativeDeno } from "../../support/native-deno.ts";
import { rejection } from "../../support/rejection.ts";
import {
  closePlace,
  openPlace,
  RUNTIMES,
  readFirstKey,
  type ServerProcess,
  startReady,
} from "../../support/server-process.ts";
import { chromiumPath, closeChromium, openChromium } from "../browser/support/chromium.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: the client's package works where it is said to, and its queue and its stream survive a server that goes away.
 * Method: the package installed from its file into an empty project, one program under Node, Bun, Deno and Chromium
 * against a real server; then a server that is stopped and started under a client.
 */

const BYTES_MAX = 12_000;
const TRIP = join(import.meta.dir, "client-trip.mjs");

const place = openPlace();
let project: string;
let server: ServerProcess;
let key: string;

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), "wherehouse-client-user-"));
  const packed = await packClient("0.2.0", project);
  writeFileSync(join(project, "package.json"), JSON.stringify({ name: "user", type: "module" }));
  const installed = spawnSync("npm", ["install", "--offline", "--no-audit", packed], { cwd: project });
  expect([installed.status, String(installed.stderr)]).toEqual([0, expect.anything()]);
  copyFileSync(TRIP, join(project, "trip.mjs"));
  writeFileSync(
    join(project, "main.mjs"),
    `import * as client from "${CLIENT_NAME}";
import { takeTrip } from "./trip.mjs";
const [, , url, key, deviceId, startMs] = process.argv;
console.log(JSON.stringify(await takeTrip(client, url, key, deviceId, Number(startMs))));
`,
  );
  await startServer([]);
}, 120_000);

afterAll(async () => {
  await closePlace(place);
  rmSync(project, { recursive: true });
});

async function startServer(args: readonly string[]): Promise<void> {
  server = await startReady(RUNTIMES[0]!, place, args);
  key = readFirstKey(place);
}

const SEEN = {
  rejected: [99],
  waiting: 0,
  isNear: true,
  history: [53, 53.001, 53.002, 53.003, 53.004],
  unknown: null,
  device: 53.004,
  failure: [true, "PARAMETER_001", 400],
  live: [
    ["snapshot", [53.004]],
    ["changed", [53.5]],
  ],
};

const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  Node: ["node", "main.mjs"],
  Bun: [process.execPath, "main.mjs"],
  Deno: [nativeDeno(), "run", "-A", "--node-modules-dir=manual", "main.mjs"],
};

for (const [name, words] of Object.entries(PROGRAMS)) {
  test(`reports, asks and listens under ${name}`, async () => {
    const startMs = Date.now() - 60_000;
    const args = [server.url, key, `from-${name}`, String(startMs)];
    const child = Bun.spawn([...words, ...args], { cwd: project, stdout: "pipe", stderr: "pipe" });
    const [out, error] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    expect([await child.exited, error]).toEqual([0, ""]);
    expect(JSON.parse(out)).toEqual(SEEN);
  });
}

test.if(chromiumPath !== null)("reports, asks and listens in a browser", async () => {
  const browser = await openChromium();
  const page = await browser.newPage();
  const files: Readonly<Record<string, string>> = {
    "client.js": join(project, `node_modules/${CLIENT_NAME}/wherehouse.js`),
    "trip.mjs": TRIP,
  };
  await page.route("**/client-test/*", (route) => {
    const path = files[route.request().url().split("/").at(-1)!];
    const body = path === undefined ? "<!doctype html>" : readFileSync(path, "utf8");
    return route.fulfill({ body, contentType: path === undefined ? "text/html" : "text/javascript" });
  });
  await page.goto(`${server.url}/client-test/page`);
  const seen = await page.evaluate(
    async ([url, keyText, startMs]) => {
      const client = await import(`${url}/client-test/client.js`);
      const { takeTrip } = await import(`${url}/client-test/trip.mjs`);
      return takeTrip(client, url, keyText, "from-chromium", startMs);
    },
    [server.url, key, Date.now() - 60_000] as const,
  );
  expect(seen).toEqual(SEEN);
  await page.close();
  await closeChromium();
});

test("the module is small, and its types are whole", () => {
  const folder = join(project, `node_modules/${CLIENT_NAME}`);
  expect(gzipSync(readFileSync(join(folder, "wherehouse.js"))).length).toBeLessThan(BYTES_MAX);
  writeFileSync(
    join(project, "typed.ts"),
    `import { Wherehouse } from "${CLIENT_NAME}";
const client = new Wherehouse({ url: "", key: "" });
const { results } = await client.devices.nearby({ latitude: 1, longitude: 2, radius_miles: 3 });
export const ids: string[] = results.map(({ device_id }) => device_id);
// @ts-expect-error: a parameter that the path does not have.
await client.devices.nearby({ latitude: 1, longitude: 2, radius_miles: 3, radius_leagues: 1 });
`,
  );
  const compiler = join(import.meta.dir, "../../../node_modules/typescript-native/bin/tsc");
  const options = ["--noEmit", "--strict", "--target", "esnext", "--module", "nodenext", "--ignoreConfig"];
  const checked = spawnSync("node", [compiler, ...options, "--types", "", "typed.ts"], { cwd: project });
  expect([checked.status, String(checked.stdout)]).toEqual([0, ""]);
});

test("a queue and a stream go on after the server was away, in order and without a gap", async () => {
  const { url } = server;
  const port = new URL(url).port;
  const client = new Wherehouse({ url, key });
  const queue = client.reports({ batch: 3, delayMs: 10 });
  const startMs = Date.now() - 600_000;
  const report = (step: number): Report => ({
    device_id: "traveller",
    timestamp: startMs + step * 1000,
    latitude: 10 + step / 100,
    longitude: 20,
  });
  queue.add(report(0));
  await queue.flush();
  const stop = new AbortController();
  const newest: number[] = [];
  const listening = (async () => {
    for await (const event of client.live({ device_id: ["traveller"] }, stop.signal)) {
      if (event.kind === "removed") continue;
      newest.push(...event.locations.map(({ latitude }) => latitude));
      if (newest.at(-1) === report(20).latitude) return;
      if (newest.length === 1) {
        await server.stop();
        for (let step = 1; step <= 20; step++) queue.add(report(step));
        void startServer(["--port", port]);
      }
    }
  })();
  await listening;
  await queue.flush();
  expect(queue.waiting).toEqual([]);
  expect(newest).toEqual(newest.toSorted((a, b) => a - b));
  const latitudes: number[] = [];
  const day = new Date(startMs).toISOString().slice(0, 10);
  for await (const { latitude } of client.devices.history("traveller", { start_date: day }))
    latitudes.push(latitude);
  expect(latitudes).toEqual(Array.from({ length: 21 }, (_, step) => report(step).latitude));
});

test("a stream of events goes on after the server was away, and where another program stopped", async () => {
  const { url } = server;
  const client = new Wherehouse({ url, key });
  const made = await fetch(`${url}/api/v1/geofences`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({
      type: "Feature",
      geometry: { type: "Point", coordinates: [30, 40] },
      properties: { radius_meters: 100, initial: "event" },
    }),
  });
  const { geofence } = (await made.json()) as { readonly geofence: { readonly id: string } };
  const startMs = Date.now() + 1000;
  const report = (step: number): Report => ({
    device_id: "commuter",
    timestamp: startMs + step * 1000,
    latitude: step % 2 === 0 ? 40 : 41,
    longitude: 30,
  });
  const queue = client.reports({ delayMs: 10 });
  queue.add(report(0));
  const messages: EventsMessage[] = [];
  const kinds = () => messages.flatMap((each) => (each.kind === "events" ? each.events : [])).map(kindOf);
  for await (const message of client.liveEvents({ watch_id: [geofence.id], since: 0 })) {
    messages.push(message);
    if (kinds().length === 6) break;
    if (messages.length > 1) continue;
    await server.stop();
    for (let step = 1; step < 6; step++) queue.add(report(step));
    void startServer(["--port", new URL(url).port]);
  }
  expect(kinds()).toEqual(["enter", "exit", "enter", "exit", "enter", "exit"]);
  await queue.flush();
  queue.close();
  const first = messages[0]!.id;
  for await (const message of client.liveEvents({ kinds: ["exit"], since: first })) {
    expect(message.kind === "events" ? message.events.map(kindOf) : []).toEqual(["exit", "exit", "exit"]);
    break;
  }
  for await (const message of client.liveEvents({ since: Number.MAX_SAFE_INTEGER })) {
    expect(message).toEqual({ kind: "reset", id: messages.at(-1)!.id });
    break;
  }
});

const kindOf = ({ kind }: WatchEvent) => kind;

test("a queue whose key is refused stops, and still has what it was given", async () => {
  const queue = new Wherehouse({ url: server.url, key: "wh_wrong" }).reports();
  const report: Report = { device_id: "a", timestamp: Date.now(), latitude: 1, longitude: 2 };
  queue.add(report);
  const failure = await rejection(queue.flush());
  expect(failure).toBeInstanceOf(WherehouseError);
  expect(failure).toMatchObject({ status: 401, code: "AUTH_002", retryAfterSeconds: null });
  expect(queue.waiting).toEqual([report]);
  expect(() => queue.add(report)).toThrow(WherehouseError);
});

test("a question is asked again while the server is busy, and not where waiting does not help", async () => {
  const statuses = [503, 429, 200, 403];
  const send = (async () => {
    const status = statuses.shift()!;
    return new Response(JSON.stringify({ results: [] }), { status, headers: { "retry-after": "0" } });
  }) as unknown as typeof fetch;
  const client = new Wherehouse({ url: "http://localhost", key: "", fetch: send });
  const point = { latitude: 1, longitude: 2, radius_miles: 3 };
  expect(await client.devices.nearby(point)).toMatchObject({ results: [] });
  expect(statuses).toEqual([403]);
  expect(await rejection(client.devices.nearby(point))).toMatchObject({ status: 403 });
});
