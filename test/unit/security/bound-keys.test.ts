import { expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { EXAMPLE_REPORT } from "../../../src/http/shapes/record-schemas.ts";
import { PIECE_BYTES_MAX } from "../../../src/lib/text/long-json.ts";
import { createTestApp, type KeyName, NOON_MS } from "../../support/test-app.ts";
import { askedWith, nameOf, OF_CLIENTS, takesReports } from "../http/requests.ts";

/*
 * A bound key that was stolen writes as the device and user that it is bound to, and nobody else: whichever body and
 * format tries, and however the names in it are spelled.
 */

/** When the examples of the document are news. */
const EXAMPLE_MS = Number(EXAMPLE_REPORT.timestamp);

const app = await createTestApp();
const PLACE = { timestamp: NOON_MS, latitude: 53.4, longitude: -2.9 };

let lastMs = NOON_MS - 3_600_000;

/** Reports of the same device must differ in time to be seen apart. */
function place() {
  lastMs += 1000;
  return { ...PLACE, timestamp: lastMs };
}

async function send(key: KeyName, type: string, body: BodyInit, headers: Record<string, string> = {}) {
  const response = await app.fetch("/ingest/v1/locations", {
    method: "POST",
    headers: { authorization: `Bearer ${app.keys[key]}`, "content-type": type, ...headers },
    body,
  });
  return { status: response.status, text: await response.text() };
}

/** All pairs of device and user that the app has. */
async function writers(): Promise<string[]> {
  const { body } = await app.get("/api/v1/locations/current");
  return body.locations.map(({ device_id, user_id }) => `${device_id} of ${user_id}`).sort();
}

const OTHERS: Readonly<Record<string, unknown>> = {
  "another device": { device_id: "pixel8" },
  "another user": { user_id: "bea" },
  "another device of the same user": { device_id: "pixel8", user_id: "anna" },
  "the same device of another user": { device_id: "pixel7", user_id: "bea" },
  "nobody in particular": { user_id: "ANONYMOUS" },
  "an empty name": { device_id: "" },
  "an empty user": { user_id: "" },
  "the name in capitals": { device_id: "PIXEL7" },
  "a blank behind it": { device_id: "pixel7 " },
  "a combining accent": { device_id: "pixel7\u0301" },
  "wide digits": { device_id: "pixel\uff17" },
  "a list with the name": { device_id: ["pixel8"] },
  "a number": { device_id: 7 },
  "an object": { user_id: { toString: "anna" } },
};

function bodiesOf(
  report: object,
): Readonly<Record<string, readonly [string, BodyInit, Record<string, string>?]>> {
  const json = JSON.stringify(report);
  const list = JSON.stringify({ locations: [report] });
  const blanks = " ".repeat(PIECE_BYTES_MAX);
  return {
    "one report": ["application/json", json],
    "a list": ["application/json", list],
    "a long report": ["application/json", `${json.slice(0, -1)}${blanks}}`],
    "a long plain list": ["application/json", `{"locations":[${json}${blanks},${json}]}`],
    "a long list behind another member": ["application/json", `{"a":"${blanks}","locations":[${json}]}`],
    "a line": ["application/x-ndjson", `${json}\n`],
    "a long line": ["application/x-ndjson", `${json.slice(0, -1)}${blanks}}\n`],
    gzip: ["application/json", gzipSync(list), { "content-encoding": "gzip" }],
  };
}

test.each(Object.keys(OTHERS))("a bound key does not write as %s", async (what) => {
  const claimed = { ...place(), ...(OTHERS[what] as object) };
  for (const [how, [type, body, headers]] of Object.entries(bodiesOf(claimed))) {
    const { status, text } = await send("boundToBoth", type, body, headers);
    expect(status, how).toBe(200);
    const answer = JSON.parse(text);
    expect(answer, how).toMatchObject({ accepted: 0, duplicates: 0 });
    expect(answer.rejected[0].message, how).toMatch(/^(device_id|user_id) must be /);
  }
  expect(await writers()).toEqual([]);
});

test.each([
  ["a name twice", '{"device_id":"pixel7","device_id":"pixel8",REST}'],
  ["a name twice, the right one last, behind a prototype", '{"__proto__":{"device_id":"pixel8"},REST}'],
  ["a name with an escape", '{"device\\u005fid":"pixel8",REST}'],
  ["a name in capitals", '{"DEVICE_ID":"pixel8","User_Id":"bea",REST}'],
  ["names of clients", '{"tid":"p8","topic":"owntracks/bea/pixel8","id":"pixel8",REST}'],
  ["a report in a report", '{"location":{"device_id":"pixel8"},"device_id":null,REST}'],
])("a bound key writes as nobody else by %s", async (_, template) => {
  const body = template.replace("REST", JSON.stringify(place()).slice(1, -1));
  for (const long of ["", " ".repeat(PIECE_BYTES_MAX)]) {
    expect((await send("boundToBoth", "application/json", body + long)).status).toBe(200);
  }
  const { body: devices } = await app.get("/api/v1/locations/current");
  for (const { device_id, user_id } of devices.locations)
    expect({ device_id, user_id }).toEqual({ device_id: "pixel7", user_id: "anna" });
});

test("parameters and headers of a request don't change whom a bound key writes as", async () => {
  const path = "/ingest/v1/locations?device_id=pixel8&user_id=bea&app_id=rival";
  const response = await app.fetch(path, {
    method: "POST",
    headers: {
      authorization: `Bearer ${app.keys.boundToBoth}`,
      "content-type": "application/json",
      "x-limit-u": "bea",
      "x-limit-d": "pixel8",
    },
    body: JSON.stringify(place()),
  });
  await response.text();
  expect(await writers()).toEqual(["pixel7 of anna"]);
});

test("a report that names nobody is the bound device's and user's, and one that names them is too", async () => {
  const fresh = await createTestApp();
  const nameless = [place(), { ...place(), device_id: null, user_id: null }];
  const named = { ...place(), device_id: "pixel7", user_id: "anna" };
  const { body } = await fresh.post([...nameless, named], "boundToBoth");
  expect(body).toMatchObject({ accepted: 3, rejected: [] });
  const { body: found } = await fresh.get("/api/v1/devices/pixel7/locations/current");
  expect(found.location).toMatchObject({ device_id: "pixel7", user_id: "anna", timestamp: named.timestamp });
});

test("a key bound to a device alone, or to a user alone, says so and leaves the other to its reports", async () => {
  const fresh = await createTestApp();
  const byDevice = await fresh.post(
    [{ ...place(), user_id: "bea" }, place(), { ...place(), device_id: "pixel8" }],
    "boundToDevice",
  );
  expect(byDevice.body).toMatchObject({
    accepted: 2,
    rejected: [
      {
        index: 2,
        device_id: "pixel8",
        message: 'device_id must be "pixel7" or absent: the key is bound to this device',
      },
    ],
  });
  const byUser = await fresh.post(
    [{ ...place(), device_id: "tablet" }, place(), { ...place(), device_id: "tablet", user_id: "bea" }],
    "boundToUser",
  );
  expect(byUser.body).toMatchObject({
    accepted: 1,
    rejected: [
      { index: 1, message: "device_id is required" },
      { index: 2, message: 'user_id must be "anna" or absent: the key is bound to this user' },
    ],
  });
  const { body } = await fresh.get("/api/v1/devices/tablet/locations/current");
  expect(body.location).toMatchObject({ user_id: "anna" });
});

test("a bound key that may read sees the devices of its app: binding is about writing", async () => {
  await app.store([{ ...PLACE, device_id: "bus", user_id: "driver" }]);
  expect((await app.get("/api/v1/devices/bus/locations/current", "boundToBoth")).status).toBe(200);
});

/** Whoever holds the key may say everywhere that he is somebody else. */
function asSomebodyElse(path: string, init: RequestInit): readonly [path: string, init: RequestInit] {
  const lie = (text: string) => text.replaceAll("pixel7", "pixel8").replaceAll("anna", "bea");
  const target = `${lie(path)}${path.includes("?") ? "&" : "?"}device_id=pixel8&user_id=bea`;
  const headers = { ...(init.headers as object), "x-limit-u": "bea", "x-limit-d": "pixel8" };
  return [target, { ...init, headers, ...(init.body ? { body: lie(String(init.body)) } : {}) }];
}

test.each(OF_CLIENTS.filter(takesReports).map((endpoint) => [nameOf(endpoint), endpoint] as const))(
  "%s stores a bound key's points as its device and user, whatever address, header and body say",
  async (_, endpoint) => {
    const fresh = await createTestApp({ startMs: EXAMPLE_MS });
    const key = fresh.keys.boundToBoth;
    const honest = askedWith(endpoint, key);
    const requests = [honest, asSomebodyElse(...honest)];
    // The name beside the password is some clients' user.
    const basic = { authorization: `Basic ${btoa(`bea:${key}`)}` };
    if (!endpoint.path.includes(":key")) requests.push(asSomebodyElse(...askedWith(endpoint, key, basic)));
    for (const [path, init] of requests) {
      const response = await fresh.fetch(path, init);
      expect([response.status, await response.text()]).toEqual([200, expect.any(String)]);
    }
    const { body } = await fresh.get("/api/v1/locations/current");
    expect(body.locations.length).toBeGreaterThan(0);
    for (const { device_id, user_id } of body.locations)
      expect([device_id, user_id]).toEqual(["pixel7", "anna"]);
  },
);
