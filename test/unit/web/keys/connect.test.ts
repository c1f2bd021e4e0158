import { expect, test } from "bun:test";
import { SETUP_NAMES } from "../../../../src/clients/setups.ts";
import type { Api } from "../../../../src/web/api/api.ts";
import { ApiError } from "../../../../src/web/api/api-error.ts";
import { Retries } from "../../../../src/web/api/retries.ts";
import { Connect, isLoopback, PHONE_APPS } from "../../../../src/web/keys/connect.ts";
import { Copying } from "../../../../src/web/keys/copying.ts";
import { PageKeys } from "../../../../src/web/keys/page-keys.ts";

const changed = () => undefined;
const KEY = {
  id: "k_1",
  kind: "phone",
  label: "Overland",
  device_id: "phone-1",
  created: 5,
  expires: null,
  revoked: null,
};

function setUp(known: readonly string[] = []) {
  const sent: unknown[] = [];
  const asked: string[] = [];
  const faults: Error[] = [];
  const api: Pick<Api, "get" | "send" | "retries"> = {
    retries: new Retries(),
    async get<Body>(path: string): Promise<Body> {
      asked.push(path);
      return { keys: [], requests: [] } as Body;
    },
    async send<Body>(_method: string, _path: string, body?: unknown): Promise<Body> {
      const fault = faults.shift();
      if (fault !== undefined) throw fault;
      sent.push(body);
      return { key: KEY, text: "wh_x", setup: {} } as Body;
    },
  };
  const rowOf = (id: string) => (known.includes(id) ? 0 : undefined);
  const devices = { timestampMs: [], latitude: [], longitude: [], rowOf };
  const connect = new Connect({
    api,
    keys: new PageKeys({ api, changed }),
    copying: new Copying(changed),
    devices,
    zones: { zone: "UTC" },
    settings: { units: "metric" },
    location: { origin: "http://10.0.0.5:3000", hostname: "10.0.0.5" },
    changed,
  });
  return { connect, sent, asked, faults };
}

test("makes a key for the app and the device, at the address of the page, and listens for it", async () => {
  const { connect, sent, asked } = setUp();
  connect.choose(PHONE_APPS.find(({ client }) => client === "overland")!);
  connect.deviceName = " phone-1 ";
  await connect.make();
  expect(sent).toEqual([
    {
      kind: "phone",
      client: "overland",
      device_id: "phone-1",
      url: "http://10.0.0.5:3000",
      label: "Overland",
    },
  ]);
  expect(connect.made?.text).toBe("wh_x");
  expect(asked).toEqual(["/map/keys/k_1/requests"]);
  connect.restart();
  expect(connect.made).toBeNull();
});

test("offers a name that no device and no phone has, until somebody writes one", async () => {
  const { connect } = setUp(["phone-2"]);
  expect(connect.deviceName).toBe("phone-1");
  connect.deviceName = "mine";
  connect.restart();
  expect(connect.deviceName).toBe("mine"); // No phone was made.
  await connect.make();
  connect.restart();
  expect(connect.deviceName).toBe("phone-3"); // The server says that phone-1 was given away, and 2 reports.
});

test("says why no key was made", async () => {
  const { connect, faults } = setUp();
  faults.push(new ApiError(400, "device_id must not be empty"));
  await connect.make();
  expect([connect.fault, connect.made, connect.isMaking]).toEqual([
    "device_id must not be empty.",
    null,
    false,
  ]);
});

test("a key that comes once the steps were left is not shown, and nobody listens for its phone", async () => {
  const { connect, sent, asked, faults } = setUp();
  const making = connect.make();
  connect.close();
  expect(connect.isMaking).toBeFalse();
  await making;
  faults.push(new ApiError(503, "keys can't be changed now"));
  const failing = connect.make();
  connect.close();
  await failing;
  expect([sent.length, connect.made, connect.fault, asked]).toEqual([1, null, null, []]);
});

test("every app is one that the server knows, and none that people have is left out", () => {
  const offered = PHONE_APPS.map(({ client }) => client).sort();
  const known = SETUP_NAMES.filter((name) => name !== "traccar-forward"); // A server, not a device.
  expect(offered).toEqual([...known].sort());
});

test("addresses that mean the phone itself are known", () => {
  expect(["localhost", "127.0.0.1", "127.1.2.3", "[::1]"].filter(isLoopback).length).toBe(4);
  expect(["192.168.1.20", "where.local", "localhost.example", "10.127.0.1"].filter(isLoopback)).toEqual([]);
});
