import { afterAll, expect, test } from "bun:test";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import { createArchiveApp, removeArchiveApps } from "../../../support/archive-app.ts";
import { textOf } from "../../../support/event-reader.ts";
import * as fc from "../../../support/fast-check.ts";
import { unlessHung } from "../../../support/hang-guard.ts";
import { randomRuns } from "../../../support/random-runs.ts";
import { document } from "../../http/openapi/open-api-document.ts";
import { schemaFaults } from "../../http/openapi/schema-faults.ts";
import { arbitraryRequests, type MadeUpRequest } from "../support/arbitrary-requests.ts";
import { OPERATIONS, operationAt } from "../support/operations.ts";

/*
 * Goal: no request, however odd, is answered by anything that the document does not say, and none by a failure of
 * ours. Method: requests made up from every operation of the document, over records in memory, in the archive
 * and late; status, media type and body of each answer are compared with the document.
 */

/** Requests to make up. */
const REQUESTS = 1500;
const MS_PER_DAY = 86_400_000;

const readAsset = async () => new TextEncoder().encode("<!doctype html>");
const app = await createArchiveApp({ readAsset });
afterAll(async () => {
  await app.close();
  await removeArchiveApps();
});

const known = {
  devices: ["bus", "tram", "O'Hara \u{1f68c}"],
  users: ["driver", "50%"],
  fences: await makeSome("POST /api/v1/geofences"),
  alerts: await makeSome("POST /api/v1/alerts"),
  webhooks: await makeSome("POST /api/v1/webhooks"),
  nowMs: app.clock.nowMs(),
};
await storeDays([0, 1, 9, 12]);
await app.seal();
await storeDays([2, 9, 15]); // Of the ninth day some lie in the archive and some, late, in memory.

/** The ids of what the operation makes of the document's example. Requests may delete or replace some of them. */
async function makeSome(name: string): Promise<string[]> {
  const { path, operation } = OPERATIONS.find((each) => each.name === name)!;
  const body = JSON.stringify(operation.requestBody!.content["application/json"]!.example);
  const headers = { authorization: `Bearer ${app.keys.full}`, "content-type": "application/json" };
  const made = Array.from({ length: 5 }, async () => {
    const { geofence, alert, webhook } = await (
      await app.fetch(path, { method: "POST", headers, body })
    ).json();
    return (geofence ?? alert ?? webhook).id as string;
  });
  return Promise.all(made);
}

async function storeDays(days: readonly number[]): Promise<void> {
  for (const [index, device_id] of known.devices.entries()) {
    const reports = days.flatMap((day) =>
      [0, 1, 2].map((hour) => ({
        device_id,
        user_id: known.users[(index + hour) % 2],
        timestamp: known.nowMs - day * MS_PER_DAY - hour * 3_600_000 - days.length,
        latitude: 53.4 + hour / 100,
        longitude: -2.9,
        horizontal_accuracy: 10 * hour,
        brand: "Acme",
      })),
    );
    await app.store(reports);
  }
}

const answered = new Map<string, number>();

test("every answer is one that the document has for its operation", async () => {
  await fc.assert(fc.asyncProperty(arbitraryRequests(known, app.keys), expectDocumented), {
    numRuns: REQUESTS,
  });
  expect(app.faults).toEqual([]);
  // The requests were not all refused at the door.
  for (const [name, least] of Object.entries({ "200": 0.18, "400": 0.02, "404": 0.01, "401": 0.005 })) {
    expect(answered.get(name) ?? 0, JSON.stringify([...answered])).toBeGreaterThan(
      randomRuns(REQUESTS) * least,
    );
  }
});

async function expectDocumented(made: MadeUpRequest): Promise<void> {
  const { method, path, headers, body } = made;
  const operation = operationAt(path, method === "HEAD" ? "GET" : method) ?? made.operation;
  const hasBody = body !== null && !["GET", "HEAD"].includes(method);
  const response = await unlessHung(
    app.fetch(path, {
      method,
      headers: headers.map(([name, value]): [string, string] => [name, value]),
      ...(hasBody ? { body } : {}),
    }),
    `${method} ${path}`,
  );
  const status = String(response.status);
  answered.set(status, (answered.get(status) ?? 0) + 1);
  const allows = method === operation.method || (method === "HEAD" && operation.method === "GET");
  const documented = operation.operation.responses[status];
  if (!allows) expect(["404", "405"]).toContain(status);
  expect(documented, `${method} ${path} was answered with ${status}`).toBeDefined();
  expect(response.status).toBeLessThan(500);

  if (documented!.content === undefined) {
    expect([response.headers.get("content-type"), await response.text()]).toEqual([null, ""]);
    return;
  }
  const mediaType = response.headers.get("content-type")!.split(";", 1)[0]!;
  const content = documented!.content[mediaType];
  expect(content, `${path} was answered in ${mediaType}`).toBeDefined();
  const bytes = unpacked(
    response.headers.get("content-encoding"),
    mediaType === "text/event-stream"
      ? new TextEncoder().encode(await textOf(response))
      : new Uint8Array(await response.arrayBuffer()),
  );
  if (method !== "HEAD" && mediaType === "application/json") {
    const value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    expect(schemaFaults(document, content!.schema as object, value)).toEqual([]);
  }
}

function unpacked(coding: string | null, bytes: Uint8Array): Uint8Array {
  if (bytes.length === 0 || coding === null) return bytes;
  return coding === "gzip" ? gunzipSync(bytes) : zstdDecompressSync(bytes);
}
