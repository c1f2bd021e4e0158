import { describe, expect, test } from "bun:test";
import type { Client, ClientMessage } from "../../../src/clients/client.ts";
import { CLIENTS, readerOf } from "../../../src/clients/clients.ts";
import { CLIENT_EXAMPLES } from "../../../src/http/clients/examples.ts";
import { type CollectedPoints, collect, messageOf } from "../../support/clients/collected.ts";
import { sample } from "../../support/clients/sample.ts";

/*
 * Goal: a value that can't be read is never taken for one that is not there, and no default stands in for it.
 * Method: in an example of every client each value that means something is left out, and replaced by what nobody can
 * read. The reading must tell the two apart.
 */

/** What no client means by any value that is not a name. */
const GARBAGE = ["~?", "12,5", "12 m", "0x10", { value: 1 }] as const;

const SAMPLES: Partial<Record<Client["name"], readonly string[]>> = {
  owntracks: ["owntracks-http/android.json"],
  overland: ["overland-requests/batch.json", "overland-requests/owntracks-mode.json"],
  traccar: ["traccar-client-9/body.json", "traccar-client-9/flat-dawarich-app.json"],
  "traccar-forward": ["traccar-forward/body.json"],
  gpslogger: ["gpslogger-custom-url/owntracks-body.json"],
  colota: ["colota/default.json", "colota/traccar-json.json"],
  homeassistant: ["home-assistant/rest-command.json", "home-assistant/companion-webhook.json"],
  phonetrack: ["phonetrack/multiple.json"],
};

type Path = readonly (string | number)[];

describe.each(CLIENTS.map((client) => [client.name, client] as const))("%s", (name, client) => {
  const { body, query } = CLIENT_EXAMPLES[name];
  const bodies = [body, ...(SAMPLES[name] ?? []).map((path) => JSON.parse(sample(path)))];
  const read = (value: unknown) => {
    const content = { kind: "json", value } as const;
    return collect(readerOf(client, content), messageOf(content));
  };

  test("tells what can't be read from what is not there, in bodies", () => {
    let tried = 0;
    for (const value of bodies.filter((each) => each !== null)) {
      for (const path of pathsOf(value)) {
        if (isOfKind(path)) continue;
        const without = seen(read(changed(value, path, undefined)));
        if (without === seen(read(value))) continue; // It means nothing to this client.
        tried++;
        for (const garbage of GARBAGE)
          expectTold(read(changed(value, path, garbage)), without, path, garbage);
      }
    }
    if (body !== null) expect(tried).toBeGreaterThan(3);
  });

  test("tells what can't be read from what is not there, in parameters", () => {
    if (query === null) return;
    const readParameters = (
      parameters: Readonly<Record<string, string>>,
      other: Partial<ClientMessage> = {},
    ) => collect(client, messageOf({ kind: "empty" }, { query: new URLSearchParams(parameters), ...other }));
    let tried = 0;
    for (const parameter of Object.keys(query)) {
      const { [parameter]: _gone, ...rest } = query;
      const without = seen(readParameters(rest));
      if (without === seen(readParameters(query))) continue;
      tried++;
      for (const garbage of GARBAGE) {
        if (typeof garbage !== "string") continue;
        expectTold(readParameters({ ...query, [parameter]: garbage }), without, [parameter], garbage);
      }
    }
    expect(tried).toBeGreaterThan(1);
  });
});

test.each([
  ["overland", { locations: [{ type: "Feature", geometry: null, properties: { device_id: "pixel7" } }] }],
  ["overland", { locations: [{ geometry: { coordinates: null }, properties: { unique_id: "pixel7" } }] }],
  ["overland", { locations: [{ properties: {} }], device_id: "pixel7" }],
  ["overland", { _type: "location", topic: "owntracks/pixel7" }],
  ["owntracks", { _type: "location", topic: "owntracks/anna/pixel7", tid: "AB" }],
  ["osmand", { id: "pixel7" }],
  ["gpslogger", { aid: "pixel7" }],
  ["colota", { device_id: "pixel7", lat: "" }],
  ["homeassistant", { device_id: "pixel7", location: { latitude: null, longitude: "unknown" } }],
  ["opengts", { dev: "pixel7" }],
] as const)("what %s sends without a position is filed under its device: %j", (name, value) => {
  const client = CLIENTS.find((one) => one.name === name)!;
  const { refused, refusedFrom } = collect(client, messageOf({ kind: "json", value }));
  expect(refused.map(({ reason }) => reason)).toEqual(["no_position"]);
  expect(refusedFrom[0]?.device).toBe("pixel7");
});

function expectTold(found: CollectedPoints, without: string, path: Path, garbage: unknown): void {
  expect({ path, garbage, isPresent: seen(found) !== without }).toEqual({ path, garbage, isPresent: true });
}

/** All that a reading found, but for what is kept of it, which has the value in it. NaN is another thing than null. */
function seen({ points, refused, skipped, refusedFrom }: CollectedPoints): string {
  const reasons = refused.map(({ reason }) => reason);
  return JSON.stringify([points, reasons, refusedFrom, skipped], (_name, value) =>
    typeof value === "number" && !Number.isFinite(value) ? String(value) : value,
  );
}

/** Whether a value says what a message or feature is, or by which topic it came: of these there may be any. */
function isOfKind(path: Path): boolean {
  return (
    path.at(-1) === "_type" ||
    path.at(-1) === "topic" ||
    (path.at(-1) === "type" && path.at(-2) !== "activity")
  );
}

/** Where in a value its texts, numbers and flags are. */
function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [path];
  return Object.entries(value).flatMap(([name, member]) => pathsOf(member, [...path, name]));
}

/** The value with another one at a path; left out for undefined, or null in a list, whose places mean something. */
function changed(value: unknown, [first, ...rest]: Path, other: unknown): unknown {
  if (first === undefined) return other;
  if (Array.isArray(value)) {
    return value.map((element, index) =>
      index === Number(first) ? (changed(element, rest, other) ?? null) : element,
    );
  }
  const entries = Object.entries(value as object).map(([name, member]) =>
    name === first ? [name, changed(member, rest, other)] : [name, member],
  );
  return Object.fromEntries(entries.filter(([, member]) => member !== undefined));
}
