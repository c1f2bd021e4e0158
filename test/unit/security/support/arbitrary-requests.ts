import { gzipSync, zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import type { TestApp } from "../../../support/test-app.ts";
import type { Schema } from "../../http/openapi/schema-faults.ts";
import { NASTY_TEXTS, REFUSED_TEXTS } from "./nasty-texts.ts";
import { type NamedOperation, OPERATIONS } from "./operations.ts";

/** A request made up from an operation of the document: right, at a bound, beyond it, or of another kind altogether. */
export interface MadeUpRequest {
  readonly operation: NamedOperation;
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array<ArrayBuffer> | null;
}

/** Ids that the data has, so that many requests find something. */
export interface KnownIds {
  readonly devices: readonly string[];
  readonly users: readonly string[];
  readonly fences: readonly string[];
  readonly alerts: readonly string[];
  readonly webhooks: readonly string[];
  readonly nowMs: number;
}

const MS_PER_DAY = 86_400_000;
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

export function arbitraryRequests(known: KnownIds, keys: TestApp["keys"]): fc.Arbitrary<MadeUpRequest> {
  return fc.constantFrom(...OPERATIONS).chain((operation) =>
    fc.record({
      operation: fc.constant(operation),
      method: mostly(fc.constant(operation.method), fc.constantFrom(...METHODS)),
      path: arbitraryPaths(operation, known),
      headers: arbitraryHeaders(operation, keys),
      body: takesBody(operation) ? bodiesFor(operation, known) : fc.constant(null),
    }),
  );
}

function takesBody({ method }: NamedOperation): boolean {
  return method === "POST" || method === "PUT";
}

/** Mostly the body that the document has for an example, if it has one. */
function bodiesFor({ operation }: NamedOperation, known: KnownIds): fc.Arbitrary<Uint8Array<ArrayBuffer>> {
  const example = operation.requestBody?.content["application/json"]?.example;
  const bodies = arbitraryBodies(known);
  if (example === undefined) return bodies;
  const body = new Uint8Array(Buffer.from(JSON.stringify(example)));
  return fc.oneof({ weight: 3, arbitrary: fc.constant(body) }, { weight: 1, arbitrary: bodies });
}

function mostly<Value>(usual: fc.Arbitrary<Value>, other: fc.Arbitrary<Value>): fc.Arbitrary<Value> {
  return fc.oneof({ weight: 12, arbitrary: usual }, { weight: 1, arbitrary: other });
}

function arbitraryPaths({ path, operation }: NamedOperation, known: KnownIds): fc.Arbitrary<string> {
  const part = (ids: readonly string[]) =>
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...ids).map(encodeURIComponent) },
      { weight: 2, arbitrary: fc.constantFrom(...NASTY_TEXTS, ...REFUSED_TEXTS).map(encodeLoosely) },
      { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 200 }).map(encodeLoosely) },
      {
        weight: 1,
        arbitrary: fc.constantFrom("", "%", "%ff", "%c0%ae", "a/b", ";a=b", "%2F", "%5c", "%00", "..;"),
      },
    );
  const parameters = (operation.parameters ?? []).filter((each) => each.in === "query");
  const pairs = parameters.map(({ name, required, schema }) =>
    fc
      .record({
        texts: fc.array(textsFor(name, schema as Schema, known), { minLength: 1, maxLength: 2 }),
        isGiven: required ? mostly(fc.constant(true), fc.constant(false)) : fc.boolean(),
        isTwice: mostly(fc.constant(false), fc.constant(true)),
      })
      .map(({ texts, isGiven, isTwice }) =>
        isGiven ? texts.slice(0, isTwice ? 2 : 1).map((text) => `${name}=${encodeLoosely(text)}`) : [],
      ),
  );
  const strays = fc.array(
    fc.constantFrom("", "=", "&", "x=1", "constructor=1", "__proto__[a]=1", "limit", "%=1", "a[]=1"),
    {
      maxLength: 2,
    },
  );
  return fc
    .tuple(
      fc.record({
        device: part(known.devices),
        user_id: part(known.users),
        geofenceId: part(known.fences),
        alertId: part(known.alerts),
        webhookId: part(known.webhooks),
        z: part(["1", "16"]),
        x: part(["0", "1"]),
      }),
      mostly(fc.constant<string[]>([]), strays),
      ...pairs,
    )
    .map(([parts, stray, ...given]) => {
      const query = [...given.flat(), ...stray].join("&");
      const partOf = (name: string) => ({ ...parts, y: parts.x })[name] ?? parts.device;
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => partOf(name));
      return query === "" ? filled : `${filled}?${query}`;
    });
}

/** As a client would, or as no client should: what stays is what a URL can hold. */
function encodeLoosely(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function textsFor(name: string, schema: Schema & { format?: string }, known: KnownIds): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 8, arbitrary: validTexts(name, schema, known) },
    { weight: 1, arbitrary: fc.constantFrom(...ODD_VALUES) },
    { weight: 1, arbitrary: fc.constantFrom(...NASTY_TEXTS, ...REFUSED_TEXTS) },
  );
}

/** Right values of parameters whose schema says too little to make any up. */
const TEXTS: Readonly<Record<string, readonly string[]>> = {
  timezone: ["UTC", "Europe/London", "America/New_York", "+05:30", "PST", "Etc/GMT+5"],
  bbox: ["-3.1,53.3,-2.8,53.5", "179.5,-10,-179.5,10", "-180,-90,180,90"],
  fields: ["speed", "altitude,speed"],
};

/** Of instants, of which the first is mostly the earlier. */
const DAYS_AGO: Readonly<Record<string, { min: number; max: number }>> = {
  start: { min: 1, max: 20 },
  end: { min: -1, max: 2 },
};

const ODD_VALUES = [
  "",
  " ",
  "0x10",
  "1e2",
  " 10",
  "10 ",
  "+1",
  "-0",
  "NaN",
  "Infinity",
  "1.5",
  "1_0",
  "\uff11",
  "[1]",
  "{}",
].concat([
  "null",
  "TRUE",
  "1,2",
  "9".repeat(400),
  `0.${"0".repeat(400)}1`,
  "-1",
  "9007199254740993",
  "a".repeat(4000),
]);

function validTexts(
  name: string,
  schema: Schema & { format?: string },
  known: KnownIds,
): fc.Arbitrary<string> {
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum.map(String));
  if (schema.type === "boolean") return fc.constantFrom("true", "false");
  if (schema.format === "date") return arbitraryDates(known.nowMs);
  const texts = TEXTS[name] ?? { device_id: known.devices, user_id: known.users }[name];
  if (texts !== undefined) return fc.constantFrom(...texts);
  const days = DAYS_AGO[name];
  if (days !== undefined) return fc.integer(days).map((ago) => `${known.nowMs - ago * MS_PER_DAY}`);
  const { minimum = -1_000_000, maximum = 1_000_000_000_000 } = schema;
  const bounds = [minimum, maximum, minimum - 1, maximum + 1, 0, 1, 100].map(plainText);
  const within =
    schema.type === "integer"
      ? fc.integer({ min: Math.max(minimum, -1000), max: Math.min(maximum, 1000) }).map(String)
      : fc.double({ min: minimum, max: Math.min(maximum, 1e6), noNaN: true }).map(plainText);
  return fc.oneof({ weight: 4, arbitrary: within }, { weight: 1, arbitrary: fc.constantFrom(...bounds) });
}

function plainText(value: number): string {
  return Number.isInteger(value) ? BigInt(value).toString() : value.toFixed(9);
}

function arbitraryDates(nowMs: number): fc.Arbitrary<string> {
  const near = fc.integer({ min: -400, max: 2 }).map((days) => dateText(nowMs + days * MS_PER_DAY));
  const recent = fc.integer({ min: -20, max: 0 }).map((days) => dateText(nowMs + days * MS_PER_DAY));
  const odd = fc.constantFrom(
    "0000-01-01",
    "9999-12-31",
    "2025-02-29",
    "2024-02-29",
    "2026-13-01",
    "2026-1-1",
    "+002026-01-01",
  );
  return fc.oneof(
    { weight: 6, arbitrary: recent },
    { weight: 2, arbitrary: near },
    { weight: 1, arbitrary: odd },
  );
}

function dateText(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

function typesOf({ operation }: NamedOperation): readonly string[] {
  return Object.keys(operation.requestBody?.content ?? { "application/json": null });
}

function arbitraryHeaders(operation: NamedOperation, keys: TestApp["keys"]) {
  const header = (name: string, values: fc.Arbitrary<string>) =>
    fc.option(values).map((value): [string, string][] => (value === null ? [] : [[name, value]]));
  const authorization = mostly(
    fc.constant(`Bearer ${keys.full}`),
    fc.constantFrom(
      ...Object.values(keys).map((key) => `Bearer ${key}`),
      ...["", "Bearer", "bearer x", `Basic ${keys.full}`, `Bearer ${"a".repeat(4000)}`],
    ),
  );
  const printable = fc.string({ unit: "grapheme-ascii", maxLength: 150 });
  return fc
    .tuple(
      header("authorization", authorization),
      header(
        "accept-encoding",
        fc.oneof(fc.constantFrom("gzip", "zstd", "gzip;q=0,*", "br", ";;,,q=", "*"), printable),
      ),
      header("x-request-id", printable),
      header("origin", fc.constantFrom("null", "https://map.example", "*")),
      !takesBody(operation)
        ? fc.constant([] as [string, string][])
        : fc
            .record({
              type: mostly(fc.constantFrom(...typesOf(operation), "Application/JSON; a=b"), printable),
              coding: mostly(
                fc.constant(""),
                fc.constantFrom("gzip", "zstd", "identity", "br", "gzip, gzip", "GZIP "),
              ),
            })
            .map(({ type, coding }): [string, string][] => [
              ["content-type", type],
              ...(coding === "" ? [] : ([["content-encoding", coding]] as [string, string][])),
            ]),
    )
    .map((headers) => headers.flat());
}

function arbitraryBodies(known: KnownIds): fc.Arbitrary<Uint8Array<ArrayBuffer>> {
  const text = fc.constantFrom(...NASTY_TEXTS, ...REFUSED_TEXTS);
  const anything = fc.oneof(text, fc.double(), fc.boolean(), fc.constant(null), fc.jsonValue());
  const report = fc.record(
    {
      device_id: mostly(fc.constantFrom(...known.devices), anything as fc.Arbitrary<string>),
      timestamp: mostly(
        fc.integer({ min: -20 * MS_PER_DAY, max: 0 }).map((age) => known.nowMs + age),
        fc.double(),
      ),
      latitude: mostly(fc.double({ min: -90, max: 90, noNaN: true }), anything as fc.Arbitrary<number>),
      longitude: mostly(fc.double({ min: -180, max: 180, noNaN: true }), anything as fc.Arbitrary<number>),
      user_id: anything,
      speed: anything,
      brand: anything,
      is_mock: anything,
      tz_offset: anything,
    },
    { requiredKeys: ["device_id", "timestamp", "latitude", "longitude"] },
  );
  const json = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        locations: fc.array(mostly(report as fc.Arbitrary<unknown>, anything), { maxLength: 6 }),
      }),
    },
    { weight: 2, arbitrary: report },
    { weight: 1, arbitrary: fc.record({ locations: anything }) },
    { weight: 1, arbitrary: fc.jsonValue() },
  );
  const lines = fc.array(mostly(report as fc.Arbitrary<unknown>, anything), { maxLength: 5 });
  const plain = fc.oneof(
    { weight: 6, arbitrary: json.map((value) => JSON.stringify(value)) },
    { weight: 3, arbitrary: lines.map((values) => values.map((value) => JSON.stringify(value)).join("\n")) },
    { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
    {
      weight: 1,
      arbitrary: fc.constantFrom("", "[", "[".repeat(100_000), '{"locations":'.repeat(2000), "\ufeff{}"),
    },
  );
  const bytes = plain.map((written) => Buffer.from(written));
  return fc
    .oneof(
      { weight: 6, arbitrary: bytes },
      { weight: 1, arbitrary: bytes.map((content) => gzipSync(content)) },
      { weight: 1, arbitrary: bytes.map((content) => zstdCompressSync(content)) },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((content) => Buffer.from(content)) },
    )
    .map((content) => new Uint8Array(content));
}
