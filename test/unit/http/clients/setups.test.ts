import { describe, expect, test } from "bun:test";
import { CLIENT_NAMES, type ClientName } from "../../../../src/clients/client.ts";
import type { Setup } from "../../../../src/clients/setup.ts";
import { SETUPS } from "../../../../src/clients/setups.ts";
import { CLIENT_EXAMPLES } from "../../../../src/http/clients/examples.ts";
import { EXAMPLE_REPORT } from "../../../../src/http/shapes/record-schemas.ts";
import { type HomeAssistantFile, renderPayload } from "../../../support/clients/home-assistant.ts";
import { createTestApp, type KeyName } from "../../../support/test-app.ts";

/*
 * Goal: whoever types what `keys create --for` says into an app has a phone that reports. Method: each app, as its
 * source builds its requests, is given the words that are printed and nothing else.
 */

const SERVER_URL = "https://h.example/behind/a/proxy";
const EXAMPLE_MS = Number(EXAMPLE_REPORT.timestamp);

/** What an app sends, once it is set up. */
interface Sent {
  readonly url: string;
  readonly init?: RequestInit;
}

const post = (url: string, headers: Record<string, string>, client: ClientName): Sent => ({
  url,
  init: { method: "POST", headers, body: JSON.stringify(CLIENT_EXAMPLES[client].body) },
});

const withParameters = (url: string, client: ClientName) =>
  `${url}${url.includes("?") ? "&" : "?"}${new URLSearchParams(CLIENT_EXAMPLES[client].query!)}`;

function fieldOf({ fields }: Setup, name: string): string {
  return fields.find((field) => field.name === name)!.value;
}

/** What a link says, once decoded. */
function linkOf({ link }: Setup): URL {
  return new URL(link!.url);
}

const APPS: Readonly<Record<string, readonly [ClientName, (setup: Setup) => Sent]>> = {
  "OwnTracks, typed": [
    "owntracks",
    (setup) => {
      const [user, device] = [fieldOf(setup, "Username"), fieldOf(setup, "Device ID")];
      const basic = btoa(`${user}:${fieldOf(setup, "Password")}`);
      const headers = { authorization: `Basic ${basic}`, "x-limit-u": user, "x-limit-d": device };
      return post(fieldOf(setup, "URL"), headers, "owntracks");
    },
  ],
  "OwnTracks, by its link": [
    "owntracks",
    (setup) => {
      const { url, username, password, deviceId } = JSON.parse(
        atob(linkOf(setup).searchParams.get("inline")!),
      );
      const headers = { authorization: `Basic ${btoa(`${username}:${password}`)}` };
      return post(url, { ...headers, "x-limit-u": username, "x-limit-d": deviceId ?? "" }, "owntracks");
    },
  ],
  "Overland, typed": [
    "overland",
    (setup) => {
      const headers = { authorization: `Bearer ${fieldOf(setup, "Access Token")}` };
      return post(fieldOf(setup, "Endpoint URL"), headers, "overland");
    },
  ],
  "Overland, by its link": [
    "overland",
    (setup) => {
      const { url, token } = Object.fromEntries(linkOf(setup).searchParams);
      return post(url!, { authorization: `Bearer ${token}` }, "overland");
    },
  ],
  "Traccar Client 8, typed": [
    "traccar",
    (setup) => ({ url: withParameters(fieldOf(setup, "Server URL"), "traccar"), init: { method: "POST" } }),
  ],
  "Traccar Client 9, by its code": [
    "traccar",
    (setup) => post(linkOf(setup).origin + linkOf(setup).pathname, {}, "traccar"),
  ],
  OsmAnd: [
    "osmand",
    (setup) => {
      const values = ["53.4", "-2.9", String(EXAMPLE_MS), "4.8", "34.2", "13.0", "271.4"];
      return {
        url: fieldOf(setup, "Web address").replace(/\{(\d)\}/g, (_, index) => values[Number(index)]!),
      };
    },
  ],
  GPSLogger: [
    "gpslogger",
    (setup) => {
      const [name = "", value = ""] = fieldOf(setup, "HTTP Headers").split(": ");
      const all = String(new URLSearchParams(CLIENT_EXAMPLES.gpslogger.query!));
      return { url: fieldOf(setup, "URL").replace("%ALL", all), init: { headers: { [name]: value } } };
    },
  ],
  OpenGTS: [
    "opengts",
    (setup) => {
      const scheme = fieldOf(setup, "Communication method").toLowerCase();
      const host = `${fieldOf(setup, "Server")}:${fieldOf(setup, "Port")}`;
      return { url: withParameters(`${scheme}://${host}${fieldOf(setup, "Server path")}`, "opengts") };
    },
  ],
  "Colota, typed": [
    "colota",
    (setup) =>
      post(fieldOf(setup, "Endpoint"), { authorization: `Bearer ${fieldOf(setup, "Token")}` }, "colota"),
  ],
  "Colota, by its link": [
    "colota",
    (setup) => {
      const { endpoint, auth } = JSON.parse(atob(linkOf(setup).searchParams.get("config")!));
      return post(endpoint, { authorization: `Bearer ${auth.bearerToken}` }, "colota");
    },
  ],
  "Home Assistant": [
    "homeassistant",
    ({ paste }) => {
      const { url, headers, payload } = (Bun.YAML.parse(paste!) as HomeAssistantFile).rest_command.wherehouse;
      return { url, init: { method: "POST", headers, body: rendered(payload) } };
    },
  ],
  "an app for PhoneTrack": [
    "phonetrack",
    (setup) => ({ url: withParameters(fieldOf(setup, "URL"), "phonetrack") }),
  ],
  "a Traccar server": [
    "traccar-forward",
    ({ paste }) => {
      const entry = (key: string) => new RegExp(`'${key}'>(.*)<`).exec(paste!)![1]!;
      const [name = "", value = ""] = entry("forward.header").split(": ");
      return post(entry("forward.url"), { [name]: value }, "traccar-forward");
    },
  ],
};

/** As for a phone that says where it is. */
function rendered(payload: string): string {
  const time = new Date(EXAMPLE_MS).toISOString().replace("Z", "000+00:00");
  return renderPayload(payload, { attributes: { latitude: 12.5, longitude: 12.5 }, battery: "81", time });
}

async function setUp(
  name: string,
  key: KeyName,
  binding: { deviceId: string | null; userId: string | null },
) {
  const app = await createTestApp({ startMs: EXAMPLE_MS + 60_000 });
  const [client, send] = APPS[name]!;
  const { url, init } = send(SETUPS[client]({ serverUrl: SERVER_URL, key: app.keys[key], ...binding }));
  // The proxy cuts off what it put before our paths.
  const { pathname, search } = new URL(url);
  const response = await app.fetch(pathname.replace("/behind/a/proxy", "") + search, init);
  await response.text();
  expect([response.status, app.refused]).toEqual([200, []]);
  const { body } = await app.get("/api/v1/locations/current");
  return body.locations;
}

describe.each(Object.keys(APPS))("%s", (name) => {
  test("reports, once it is set up, as whom its key is bound to", async () => {
    const found = await setUp(name, "boundToBoth", { deviceId: "pixel7", userId: "anna" });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ device_id: "pixel7", user_id: "anna" });
  });

  test("reports with a key that is bound to nobody, too", async () => {
    expect(await setUp(name, "writer", { deviceId: null, userId: null })).toHaveLength(1);
  });
});

test("every client is set up here", () => {
  expect(new Set(Object.values(APPS).map(([client]) => client))).toEqual(new Set(CLIENT_NAMES));
});
