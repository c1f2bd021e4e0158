import { describe, expect, test } from "bun:test";
import { CLIENT_NAMES, type Client, type ClientName } from "../../../src/clients/client.ts";
import { CLIENTS, readerOf } from "../../../src/clients/clients.ts";
import { contentOf } from "../../support/clients/collected.ts";
import { sample, sampleLines } from "../../support/clients/sample.ts";

function clientNamed(name: ClientName): Client {
  return CLIENTS.find((client) => client.name === name)!;
}

function readerName(path: ClientName, body: string): ClientName {
  return readerOf(clientNamed(path), contentOf(body)).name;
}

/** Bodies whose shape says whose they are. */
const SHAPES: readonly (readonly [ClientName, string])[] = [
  ["owntracks", sample("owntracks-http/android.json")],
  ["owntracks", '{"_type":"location","tid":"px","topic":"owntracks/anna","lat":1,"lon":2,"tst":3}'],
  ["owntracks", sample("owntracks-http/encrypted-key-s3cr1t.json")],
  ["overland", sample("overland-requests/batch.json")],
  ["overland", sample("overland-requests/owntracks-mode.json")],
  ["traccar", sample("traccar-client-9/body.json")],
  ["traccar", sampleLines("traccar/osmand_json_bodies.jsonl")[0]!],
  ["traccar-forward", sample("traccar-forward/body.json")],
];

test("every client is there once, under its name", () => {
  expect(CLIENTS.map(({ name }) => name)).toEqual([...CLIENT_NAMES]);
});

describe("readerOf() takes a body", () => {
  /** Paths whose own section lists a dialect that looks like another's. */
  const dialects: Partial<Record<ClientName, readonly ClientName[]>> = { osmand: ["traccar"] };

  for (const path of CLIENT_NAMES) {
    const foreign = SHAPES.filter(([shape]) => !(dialects[path] ?? []).includes(shape));
    test.each(foreign)(`on the path of ${path} for what its shape says: %s`, (shape, body) => {
      expect(readerName(path, body)).toBe(shape);
    });
  }

  test.each(sampleLines("traccar/owntracks_bodies.jsonl"))("on Traccar's path for OwnTracks': %s", (body) => {
    expect(readerName("traccar", body)).toBe("owntracks");
  });

  test.each<[ClientName, string]>([
    ["osmand", sample("colota/traccar-json.json")],
    ["colota", sample("colota/owntracks-template.json")],
    ["colota", sample("colota/anchor-point.json")],
    ["gpslogger", sample("gpslogger-custom-url/owntracks-body.json")],
    ["gpslogger", sample("gpslogger-custom-url/unknown-values-are-zero.json")],
  ])("on the path of %s for that path's where its section lists the dialect: %s", (path, body) => {
    expect(readerName(path, body)).toBe(path);
  });

  test.each<[ClientName, string]>([
    ["traccar", sample("traccar-client-10/json-array-variant.json")],
    ["traccar", sample("traccar-client-9/flat-dawarich-app.json")],
    ["overland", "lat=1&lon=2"],
    ["homeassistant", sample("home-assistant/rest-command.json")],
    ["phonetrack", sample("phonetrack/multiple.json")],
    ["osmand", '{"who":"knows"}'],
    ["osmand", "[]"],
    ["osmand", ""],
  ])("on the path of %s for that path's where no shape says otherwise: %s", (path, body) => {
    expect(readerName(path, body)).toBe(path);
  });
});
