import { afterEach, beforeEach, describe, expect } from "bun:test";
import { CLIENTS } from "../../../src/clients/clients.ts";
import { DIALECTS, type Dialect, type Fix } from "../../support/clients/dialects.ts";
import {
  closePlace,
  openPlace,
  type Place,
  RUNTIMES,
  readFirstKey,
  type ServerProcess,
  startReady,
} from "../../support/server-process.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: what a client was told is stored is stored, and its answer is what it deletes by, on both runtimes. Method: a
 * fix in every dialect goes to the real process, each to a device of its own; the process is killed, and a new one is
 * asked.
 */

/** Brokers bring the others. */
const BY_REQUEST = DIALECTS.filter((dialect) => dialect.write(fixNow()).topic === undefined);

function fixNow(): Fix {
  const timestampMs = Math.floor(Date.now() / 1000) * 1000 - 60_000;
  return { timestampMs, latitude: 52.520008, longitude: 13.404954, speedMps: 13 };
}

function requestOf(dialect: Dialect, fix: Fix, place: string): Request {
  const { content, query = new URLSearchParams() } = dialect.write(fix);
  const url = `${place}${query.size > 0 ? `?${query}` : ""}`;
  switch (content.kind) {
    case "json":
      return new Request(url, { method: "POST", body: JSON.stringify(content.value) });
    case "text":
      return new Request(url, { method: "POST", body: content.text });
    default:
      return new Request(url);
  }
}

async function currentOf(server: ServerProcess, key: string, device: string) {
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${server.url}/api/v1/devices/${device}/locations/current`, { headers });
  const { location } = (await response.json()) as { location: Record<string, number> };
  return location;
}

describe.each(RUNTIMES.map((runtime) => [runtime.name, runtime] as const))("on %s", (_name, runtime) => {
  let place: Place;
  beforeEach(() => {
    place = openPlace();
  });
  afterEach(() => closePlace(place));

  test("every client is told that it was stored, and it was", async () => {
    const server = await startReady(runtime, place);
    const key = readFirstKey(place);
    const fix = fixNow();
    for (const [index, dialect] of BY_REQUEST.entries()) {
      const url = `${server.url}/ingest/${dialect.path}/k/${key}/device-${index}`;
      const response = await fetch(requestOf(dialect, fix, url));
      const { contentType, body } = CLIENTS.find(({ name }) => name === dialect.path)!.success;
      expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([
        200,
        contentType,
        body,
      ]);
    }
    server.kill("SIGKILL");
    await server.ended;

    const again = await startReady(runtime, place);
    for (const [index, dialect] of BY_REQUEST.entries()) {
      const location = await currentOf(again, key, `device-${index}`);
      expect(location).toMatchObject({ timestamp: fix.timestampMs, latitude: fix.latitude });
      expect(Math.abs(location.speed! - fix.speedMps)).toBeLessThan(dialect.roundingMps + 1e-9);
    }
    expect(again.error).not.toContain(key);
  });
});
