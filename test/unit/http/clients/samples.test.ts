import { describe, expect, test } from "bun:test";
import type { ClientName } from "../../../../src/clients/client.ts";
import type { RefusalReason } from "../../../../src/clients/point.ts";
import { sample, sampleLines } from "../../../support/clients/sample.ts";
import { createTestApp } from "../../../support/test-app.ts";

/*
 * Goal: what phones send, byte for byte, becomes records. Method: each sample through the server, at an hour at which
 * it is news, then the app's history and what was kept of what could not be used.
 */

/** The morning after most samples were recorded, before the newest of them. */
const NOW_MS = Date.parse("2026-02-02T08:55:00Z");

/** Device, user, Unix s, latitude, longitude, m/s. */
type Row = readonly [string, string, number, number, number, number?];

interface Sent {
  readonly client: ClientName;
  readonly title: string;
  /** Parameters of the URL, and then there is no body. */
  readonly query?: string;
  readonly method?: "GET" | "POST";
  readonly body?: string;
  readonly headers?: Record<string, string>;
  /** After the key in the path. */
  readonly device?: string;
  readonly rows: readonly Row[];
  /** What is kept of the rest. */
  readonly refused?: readonly RefusalReason[];
}

const [BERLIN_NORTH, BERLIN_EAST] = [52.520008, 13.404954];
const START = 1_770_000_000;

function query(text: string): string {
  return text.trim().slice(text.indexOf("?") + 1);
}

function berlin(device: string, speed?: number, user = "ANONYMOUS", seconds = START): Row {
  const position = [device, user, seconds, BERLIN_NORTH, BERLIN_EAST] as const;
  return speed === undefined ? position : [...position, speed];
}

const SENT: readonly Sent[] = [
  {
    client: "owntracks",
    title: "a location of Android",
    body: sample("owntracks-http/android.json"),
    headers: { "x-limit-u": "anna", "x-limit-d": "pixel7" },
    rows: [berlin("anna:pixel7", 13.056, "anna")],
  },
  {
    client: "owntracks",
    title: "a location of iOS",
    body: sample("owntracks-http/ios.json"),
    rows: [["bea:iphone", "bea", START + 120, BERLIN_NORTH, BERLIN_EAST, 1.389]],
  },
  {
    client: "overland",
    title: "a batch whose current position lies ahead",
    body: sample("overland-requests/batch.json"),
    rows: [
      berlin("bea-phone", 13),
      ["bea-phone", "ANONYMOUS", START + 60, 52.520101, 13.40511],
      ["bea-phone", "ANONYMOUS", START + 22_800, 52.53, 13.41, 0],
    ],
  },
  {
    client: "overland",
    title: "its OwnTracks mode",
    body: sample("overland-requests/owntracks-mode.json"),
    rows: [berlin("bea-phone")],
  },
  {
    client: "overland",
    title: "a batch of Colota, which is named by nobody",
    body: sample("colota/overland-batch.json"),
    rows: [berlin("overland-KEY", 13.1)],
  },
  ...sampleLines("traccar-client-8/android-queries.txt").map(
    (line, index): Sent => ({
      client: "traccar",
      title: `version 8, query ${index + 1}`,
      query: query(line),
      rows: [index === 0 ? berlin("123456", 13) : ["123456", "ANONYMOUS", START + 60, 52.5201, 13.405, 0]],
    }),
  ),
  {
    client: "traccar",
    title: "version 8, a POST that a redirect made a GET",
    method: "GET",
    query: query(sample("traccar-client-8/ios-queries.txt")),
    rows: [berlin("123456")],
  },
  {
    client: "traccar",
    title: "version 9",
    body: sample("traccar-client-9/body.json"),
    rows: [berlin("48241179", 13, "ANONYMOUS", START + 0.12)],
  },
  {
    client: "traccar",
    title: "version 10",
    body: sampleLines("traccar-client-10/form-bodies.txt")[0]!,
    rows: [berlin("48241179", 13)],
  },
  {
    client: "traccar",
    title: "version 10, a heartbeat",
    body: sampleLines("traccar-client-10/form-bodies.txt")[1]!,
    rows: [],
  },
  {
    client: "traccar",
    title: "version 10, a list",
    body: sample("traccar-client-10/json-array-variant.json"),
    rows: [berlin("48241179", 13)],
  },
  {
    client: "traccar",
    title: "Dawarich's app",
    body: sample("traccar-client-9/flat-dawarich-app.json"),
    rows: [berlin("iphone-15", 1.2)],
  },
  {
    client: "traccar",
    title: "a query without an id, whose device the path names",
    query: `lat=${BERLIN_NORTH}&lon=${BERLIN_EAST}&timestamp=${START}`,
    device: "van",
    rows: [berlin("van")],
  },
  {
    client: "traccar",
    title: "a query without an id",
    query: `lat=${BERLIN_NORTH}&lon=${BERLIN_EAST}&timestamp=${START}`,
    rows: [],
    refused: ["bad_device"],
  },
  {
    client: "traccar-forward",
    title: "a position",
    body: sample("traccar-forward/body.json"),
    rows: [berlin("48241179", 13)],
  },
  {
    client: "osmand",
    title: "a query",
    query: sampleLines("osmand-app/queries.txt")[0]!,
    device: "pixel7",
    rows: [berlin("pixel7", 13.02, "ANONYMOUS", START + 0.123)],
  },
  {
    client: "osmand",
    title: "a query without a fix",
    query: sampleLines("osmand-app/queries.txt")[2]!,
    rows: [],
    refused: ["bad_coordinates"],
  },
  {
    client: "osmand",
    title: "Colota's Traccar mode",
    query: sample("colota/traccar-get-query.txt").trim(),
    rows: [berlin("osmand-KEY", 13.1)],
  },
  {
    client: "gpslogger",
    title: "all parameters",
    query: sample("gpslogger-custom-url/all-parameters-query.txt").trim(),
    rows: [berlin("a1b2c3d4e5f60718", 13)],
  },
  {
    client: "gpslogger",
    title: "the body that everybody copies",
    body: sample("gpslogger-custom-url/owntracks-body.json"),
    device: "pixel7",
    rows: [berlin("pixel7", 13)],
  },
  {
    client: "opengts",
    title: "a sentence",
    query: query(sample("opengts/request.txt")),
    rows: [berlin("anna:phone1", 13, "anna")],
  },
  {
    client: "colota",
    title: "its own words",
    body: sample("colota/default.json"),
    rows: [berlin("colota-KEY", 13)],
  },
  {
    client: "colota",
    title: "OwnTracks' words",
    body: sample("colota/owntracks-template.json"),
    rows: [berlin("colota-KEY", 13.1)],
  },
  {
    client: "homeassistant",
    title: "a rest_command",
    body: sample("home-assistant/rest-command.json"),
    rows: [berlin("iphone_16", 13, "ANONYMOUS", START + 0.123)],
  },
  {
    client: "homeassistant",
    title: "the phone app's webhook",
    body: sample("home-assistant/companion-webhook.json"),
    rows: [berlin("homeassistant-KEY", 13, "ANONYMOUS", NOW_MS / 1000)],
  },
  {
    client: "phonetrack",
    title: "a form",
    body: sample("phonetrack/query.txt").trim(),
    device: "pixel7",
    rows: [berlin("pixel7", 13)],
  },
  {
    client: "phonetrack",
    title: "rows",
    body: sample("phonetrack/multiple.json"),
    device: "pixel7",
    rows: [berlin("pixel7", 13), ["pixel7", "ANONYMOUS", START + 60, 52.5201, 13.4051]],
  },
  {
    client: "overland",
    title: "a batch of years ago",
    body: '{"locations":[{"geometry":{"coordinates":[1,2]},"properties":{"timestamp":"2015-10-01T08:00:00-0700"}}]}',
    rows: [],
    refused: ["too_old"],
  },
];

describe("what phones send becomes records:", () => {
  test.each(SENT.map((sent) => [sent.client, sent.title, sent] as const))(
    "%s, %s",
    async (client, _title, sent) => {
      const app = await createTestApp({ startMs: NOW_MS });
      const { writer } = app.keys;
      const device = sent.device === undefined ? "" : `/${sent.device}`;
      const parameters = sent.query === undefined ? "" : `?${sent.query}`;
      const method = sent.method ?? (client === "opengts" ? "GET" : "POST");
      const init: RequestInit = { method, headers: sent.headers ?? {} };
      if (sent.body !== undefined) init.body = sent.body;
      const response = await app.fetch(`/ingest/${client}/k/${writer}${device}${parameters}`, init);
      expect(response.status).toBe(200);

      const { locations } = (await app.get("/api/v1/locations/history?start_date=2026-01-01")).body;
      const rows = locations.map(({ device_id, user_id, timestamp, latitude, longitude, speed }) => {
        const row = [
          String(device_id).replace(writer.slice(-4), "KEY"),
          user_id,
          Number(timestamp) / 1000,
          latitude,
          longitude,
        ];
        return speed === undefined ? row : [...row, speed];
      });
      expect(rows).toEqual(sent.rows.map((row) => [...row]));
      expect(app.refused.map(({ reason }) => reason)).toEqual([...(sent.refused ?? [])]);
    },
  );
});
