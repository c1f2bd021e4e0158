import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CLIENT_NAMES, type ClientName } from "../../../src/clients/client.ts";
import { homeassistant } from "../../../src/clients/homeassistant.ts";
import { adviceFor, type SetupRequest } from "../../../src/clients/setup.ts";
import { SETUPS } from "../../../src/clients/setups.ts";
import { collect, contentOf, messageOf } from "../../support/clients/collected.ts";
import { type HomeAssistantFile, renderPayload } from "../../support/clients/home-assistant.ts";
import { UNIX_ENVIRONMENT } from "../../support/programs.ts";

/** What each app is told: the words that its own source takes. */

const KEY = "wh_0123456789abcdefghijABCDEFGHIJ0123456789abcdefghijABC";
const BOUND: SetupRequest = { serverUrl: "https://h.example", key: KEY, deviceId: "pixel7", userId: "anna" };
const UNBOUND: SetupRequest = { ...BOUND, deviceId: null, userId: null };
/** Every kind of character that a URL, JSON, base64 or a formatter could trip over. */
const ODD: SetupRequest = { ...BOUND, deviceId: "Jo's 📱 {0}/a+b&c=d?e#f%20ÿ\"\\", userId: "Zoë" };

function fieldsOf(client: ClientName, request: SetupRequest): Readonly<Record<string, string>> {
  return Object.fromEntries(SETUPS[client](request).fields.map(({ name, value }) => [name, value]));
}

/** What an app makes of the parameter that holds its whole configuration, however its parser takes a plus sign. */
function inlineOf(client: ClientName, request: SetupRequest, prefix: string): unknown {
  const { url } = SETUPS[client](request).link!;
  expect(url).toStartWith(prefix);
  const encoded = url.slice(prefix.length);
  expect(encoded).not.toMatch(/[^A-Za-z0-9%]/);
  return JSON.parse(atob(decodeURIComponent(encoded))); // As Colota does: bytes as Latin 1.
}

describe("OwnTracks", () => {
  test("is given an address, a user, the key as password and a device", () => {
    expect(fieldsOf("owntracks", BOUND)).toEqual({
      Mode: "HTTP",
      URL: "https://h.example/ingest/owntracks",
      Username: "anna",
      Password: KEY,
      "Device ID": "pixel7",
    });
  });

  test("reads its configuration from the link", () => {
    for (const request of [BOUND, ODD]) {
      expect(inlineOf("owntracks", request, "owntracks:///config?inline=")).toEqual({
        _type: "configuration",
        mode: 3,
        url: "https://h.example/ingest/owntracks",
        username: request.userId,
        password: KEY,
        deviceId: request.deviceId,
        auth: true,
      });
    }
  });

  test("has a user name that means none where the key is bound to no user, since it sends no password without", () => {
    const configuration = inlineOf("owntracks", UNBOUND, "owntracks:///config?inline=");
    expect(configuration).toMatchObject({ username: "user", password: KEY });
    expect(configuration).not.toHaveProperty("deviceId");
    const { Username } = fieldsOf("owntracks", { ...UNBOUND, deviceId: "pixel7" });
    expect(Username).toBe("user");
  });
});

describe("curl", () => {
  /** What a shell gives it, word by word. */
  function wordsOf(request: SetupRequest): string[] {
    const script = `curl() { printf '%s\\0' "$@"; }\n${SETUPS.curl(request).paste}`;
    const { stdout } = Bun.spawnSync(["/bin/sh", "-c", script], { env: UNIX_ENVIRONMENT });
    return stdout.toString().split("\0").slice(0, -1);
  }

  test("is given a report of our own, whatever the device is called", () => {
    for (const request of [BOUND, ODD]) {
      const askedSeconds = Math.floor(Date.now() / 1000);
      const [url, , authorization, , , , body] = wordsOf(request);
      expect([url, authorization]).toEqual([
        "https://h.example/ingest/v1/locations",
        `Authorization: Bearer ${KEY}`,
      ]);
      const report = JSON.parse(body!);
      expect(report.device_id).toBe(request.deviceId);
      expect(report.timestamp / 1000).toBeWithin(askedSeconds, Date.now() / 1000 + 0.001);
    }
  });
});

describe("Overland", () => {
  test("is given an address, the key as token and a device", () => {
    expect(fieldsOf("overland", BOUND)).toEqual({
      "Endpoint URL": "https://h.example/ingest/overland",
      "Access Token": KEY,
      "Device ID": "pixel7",
    });
  });

  test("reads four parameters from the link", () => {
    const read = (request: SetupRequest) => {
      const url = new URL(SETUPS.overland(request).link!.url);
      expect(`${url.protocol}//${url.host}`).toBe("overland://setup");
      expect(url.search).not.toContain("+"); // It takes a plus sign for one, not for a blank.
      return Object.fromEntries(url.searchParams);
    };
    const all = { url: "https://h.example/ingest/overland", token: KEY, unique_id: "yes" };
    expect(read(BOUND)).toEqual({ ...all, device_id: "pixel7" });
    expect(read(ODD)).toEqual({ ...all, device_id: ODD.deviceId! });
    expect(read(UNBOUND)).toEqual(all);
  });
});

describe("Traccar Client", () => {
  test("has the key in the path, since a scan takes the query for settings", () => {
    expect(fieldsOf("traccar", BOUND)).toEqual({
      "Server URL": `https://h.example/ingest/traccar/k/${KEY}`,
      "Device identifier": "pixel7",
    });
    for (const request of [BOUND, ODD]) {
      const url = new URL(SETUPS.traccar(request).link!.url);
      expect(url.origin + url.pathname).toBe(`https://h.example/ingest/traccar/k/${KEY}`);
      expect(Object.fromEntries(url.searchParams)).toEqual({
        id: request.deviceId!,
        interval: "60",
        distance: "75",
        accuracy: "high",
      });
    }
    expect(SETUPS.traccar(UNBOUND).link!.url).not.toContain("id=");
  });
});

describe("OsmAnd", () => {
  test("has everything in its URL, in placeholders by number", () => {
    expect(fieldsOf("osmand", BOUND)).toEqual({
      "Web address": `https://h.example/ingest/osmand/k/${KEY}/pixel7?lat={0}&lon={1}&timestamp={2}&hdop={3}&altitude={4}&speed={5}&bearing={6}`,
    });
    expect(fieldsOf("osmand", UNBOUND)["Web address"]).toStartWith(
      `https://h.example/ingest/osmand/k/${KEY}?lat=`,
    );
  });

  test("has nothing in the path that its formatter takes for its own", () => {
    const [path = ""] = fieldsOf("osmand", ODD)["Web address"]!.split("?");
    expect(path).not.toMatch(/['{}]/);
    expect(decodeURIComponent(path.slice(path.lastIndexOf("/") + 1))).toBe(ODD.deviceId!);
  });
});

test("GPSLogger sends all that it knows as a query, and the key in a header", () => {
  expect(fieldsOf("gpslogger", BOUND)).toMatchObject({
    URL: "https://h.example/ingest/gpslogger?%ALL",
    "HTTP Headers": `Authorization: Bearer ${KEY}`,
    "HTTP Method": "GET",
    "Discard offline locations": "off",
    "Allow auto sending": "off",
  });
});

test.each([
  ["https://h.example", ["HTTPS", "h.example", "443", ""]],
  ["http://192.168.1.5:3000", ["HTTP", "192.168.1.5", "3000", ""]],
  ["https://[2001:db8::1]:8443/track", ["HTTPS", "[2001:db8::1]", "8443", "/track"]],
  ["https://YOUR-HOST", ["HTTPS", "YOUR-HOST", "443", ""]],
])("OpenGTS is given the parts of %s", (serverUrl, [scheme, host, port, prefix]) => {
  expect(fieldsOf("opengts", { ...BOUND, serverUrl })).toEqual({
    Server: host!,
    Port: port!,
    "Communication method": scheme!,
    "Server path": `${prefix}/ingest/opengts/k/${KEY}`,
    "Device ID": "pixel7",
    "Account name": "anna",
  });
});

test("Colota is given its own path and the key as token, by hand or by link", () => {
  const endpoint = "https://h.example/ingest/colota";
  expect(fieldsOf("colota", BOUND)).toEqual({
    Endpoint: endpoint,
    Template: "GeoPulse",
    Authentication: "Bearer token",
    Token: KEY,
  });
  expect(inlineOf("colota", BOUND, "colota://setup?config=")).toEqual({
    endpoint,
    apiTemplate: "geopulse",
    httpMethod: "POST",
    auth: { type: "bearer", bearerToken: KEY },
  });
});

test("Home Assistant's file sends to the path, with the key in a header", () => {
  const yaml = Bun.YAML.parse(SETUPS.homeassistant(BOUND).paste!) as HomeAssistantFile;
  const { url, method, headers } = yaml.rest_command.wherehouse;
  expect({ url, method, headers }).toEqual({
    url: "https://h.example/ingest/homeassistant",
    method: "POST",
    headers: { Authorization: `Bearer ${KEY}` },
  });
});

describe("Home Assistant's template", () => {
  const [, documented = ""] = /^```yaml\n(rest_command:.*?)^```/ms.exec(
    readFileSync(join(import.meta.dirname, "../../../docs/clients.md"), "utf8"),
  )!;
  const TIME = "2026-02-02T02:40:00.123456+00:00";
  const PLACE = { latitude: 52.520008, longitude: 13.404954 };
  const FULL = { ...PLACE, gps_accuracy: 12, altitude: 34, speed: 13 };

  describe.each([
    ["in the documents", documented],
    ["in a setup", SETUPS.homeassistant(BOUND).paste!],
  ])("%s", (_where, file) => {
    const { payload } = (Bun.YAML.parse(file) as HomeAssistantFile).rest_command.wherehouse;
    const read = (attributes: Readonly<Record<string, unknown>>, battery: string) => {
      const body = renderPayload(payload, { attributes, battery, time: TIME });
      return collect(homeassistant, messageOf(contentOf(body)));
    };

    test("is read as what the tracker knows", () => {
      const [point] = read(FULL, "81").points;
      expect(point).toMatchObject({ ...PLACE, timestampMs: 1_770_000_000_123 });
      expect(point?.details).toMatchObject({ horizontal_accuracy: 12, battery_level: 81 });
    });

    test.each([
      ["no accuracy", PLACE, "81"],
      [
        "states without a value",
        { ...PLACE, gps_accuracy: "unknown", altitude: "unavailable" },
        "unavailable",
      ],
      ["texts with quotation marks", { ...PLACE, gps_accuracy: 'a "b"\n' }, "'\\"],
    ])("is read as a position of a tracker with %s", (_what, attributes, battery) => {
      expect(read(attributes, battery).points).toMatchObject([PLACE]);
    });

    test.each([
      ["without a position", {}],
      ["whose position is not known", { latitude: "unknown", longitude: "unavailable" }],
    ])("says of a tracker %s that it has none", (_what, attributes) => {
      expect(read(attributes, "81").refused).toMatchObject([{ reason: "no_position" }]);
    });
  });
});

test("PhoneTrack's apps have key and device in the path", () => {
  expect(fieldsOf("phonetrack", BOUND).URL).toBe(`https://h.example/ingest/phonetrack/k/${KEY}/pixel7`);
});

test("a Traccar server's file has the address as XML takes it, and the key in a header", () => {
  const { paste } = SETUPS["traccar-forward"]({ ...UNBOUND, serverUrl: "https://h.example/a&b" });
  expect(paste).toContain("<entry key='forward.type'>json</entry>\n");
  expect(paste).toContain(
    "<entry key='forward.url'>https://h.example/a&amp;b/ingest/traccar-forward</entry>\n",
  );
  expect(paste).toContain(`<entry key='forward.header'>Authorization: Bearer ${KEY}</entry>\n`);
});

test.each(CLIENT_NAMES)("%s: no note has the key, and the app's own path is in what is typed", (client) => {
  for (const request of [BOUND, UNBOUND, ODD]) {
    const setup = SETUPS[client](request);
    expect([...setup.notes, ...adviceFor(setup, request), setup.app, setup.place].join("\n")).not.toContain(
      "wh_",
    );
    const typed = setup.fields.map(({ value }) => value).join("\n") + (setup.paste ?? "");
    expect(typed).toMatch(new RegExp(`/ingest/${client}(/k/|[?"<\\s]|$)`, "m"));
    expect(typed).toContain(KEY);
  }
});

describe("adviceFor()", () => {
  const adviceOf = (client: ClientName, request: SetupRequest) =>
    adviceFor(SETUPS[client](request), request).join("\n");

  test("says that a key which names no device should, and that one for many should not", () => {
    expect(adviceOf("overland", UNBOUND)).toContain("not bound to a device");
    expect(adviceOf("overland", BOUND)).toBe("");
    expect(adviceOf("traccar-forward", UNBOUND)).toBe("");
    expect(adviceOf("traccar-forward", BOUND)).toContain("count as one device");
  });

  test("says where the key is in a URL", () => {
    for (const client of CLIENT_NAMES) {
      const isInPath = ["traccar", "osmand", "opengts", "phonetrack"].includes(client);
      expect(adviceOf(client, BOUND).includes("The URL contains the key")).toBe(isInPath);
    }
  });

  test("says that http is open to all, and that a phone can't reach this machine's own address", () => {
    const at = (serverUrl: string) => adviceOf("overland", { ...BOUND, serverUrl });
    expect(at("http://192.168.1.5:3000")).toContain("not encrypted");
    expect(at("https://h.example")).not.toContain("not encrypted");
    for (const own of ["http://127.0.0.1:3000", "http://localhost", "http://[::1]:3000"])
      expect(at(own)).toContain("can't reach");
    for (const other of ["http://localhost.example", "https://127.example", "http://10.0.0.1"])
      expect(at(other)).not.toContain("can't reach");
  });
});
