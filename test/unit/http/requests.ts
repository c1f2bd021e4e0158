import type { ClientEndpoint, Endpoint, KeyedEndpoint, OpenEndpoint } from "../../../src/http/endpoint.ts";
import { ENDPOINTS } from "../../../src/http/endpoints.ts";
import type { KeyName } from "../../support/test-app.ts";

/*
 * Requests to every endpoint, made from what each says of itself. Nothing that asks them all is written by hand, so
 * that a new endpoint is asked by every such test, or fails it.
 */

export const KEYED = ENDPOINTS.filter((endpoint): endpoint is KeyedEndpoint => endpoint.kind === "keyed");
export const OPEN = ENDPOINTS.filter((endpoint): endpoint is OpenEndpoint => endpoint.kind === "open");
/** Those of apps that speak a language of their own. */
export const OF_CLIENTS = ENDPOINTS.filter(
  (endpoint): endpoint is ClientEndpoint => endpoint.kind === "client",
);
/** Those that answer about the data of an app. */
export const READS = KEYED.filter(({ method, permission }) => method === "GET" && permission === "read");
export const WRITES = KEYED.filter(({ permission }) => permission === "write");
/** Those for who operates the service, about all apps together. */
export const OPERATES = KEYED.filter(({ permission }) => permission === "operate");

/** A report that requests to every endpoint find, to be spread and changed. */
export const BUS = { device_id: "bus", user_id: "driver", latitude: 53.4, longitude: -2.9 };

/** Ids of that report, by the names that paths give them; others are those of the document's examples. */
const IDS: Readonly<Record<string, string>> = { deviceId: BUS.device_id, user_id: BUS.user_id };

export function nameOf({ method, path }: Endpoint): string {
  return `${method} ${path}`;
}

/** The path of an endpoint with its variable segments filled, and the query that it can't do without. */
export function pathTo({ path, pathParameters, query }: Endpoint, ids = IDS): string {
  let filled = path;
  for (const [name, { example }] of Object.entries(pathParameters)) {
    filled = filled.replace(`:${name}`, encodeURIComponent(ids[name] ?? example));
  }
  const needed = Object.entries(query).filter(([, { required }]) => required);
  const pairs = needed.map(([name, { example }]) => `${name}=${encodeURIComponent(String(example))}`);
  return pairs.length === 0 ? filled : `${filled}?${pairs.join("&")}`;
}

export function withParameter(path: string, pair: string): string {
  return `${path}${path.includes("?") ? "&" : "?"}${pair}`;
}

/** Whether it may change what is stored, by reports or edits. */
export function takesReports(endpoint: Endpoint): boolean {
  const { permission, method } = endpoint;
  if (endpoint.kind !== "client")
    return permission === "write" || ((permission === "edit" || permission === "manage") && method !== "GET");
  return endpoint.client.methods.includes(endpoint.method);
}

/** A good request to an endpoint with a key: its path, and what goes with that. */
export function askedWith(
  endpoint: Endpoint,
  keyText: string,
  headers: Readonly<Record<string, string>> = {},
): readonly [path: string, init: RequestInit] {
  if (endpoint.kind === "client") return sentByClient(endpoint, keyText, headers);
  const path = pathTo(endpoint);
  const finding = FINDING[path];
  const asked = finding === undefined ? path : withParameter(path, finding);
  return [asked, requestTo(endpoint, { authorization: `Bearer ${keyText}`, ...headers })];
}

/** Parameters without which an endpoint may be asked, and finds nothing of what was there before. */
const FINDING: Readonly<Record<string, string>> = { "/api/v1/live": "since=0" };

function sentByClient(
  endpoint: ClientEndpoint,
  keyText: string,
  headers: Readonly<Record<string, string>>,
): readonly [path: string, init: RequestInit] {
  const { method, example } = endpoint;
  const path = pathTo(endpoint, { key: keyText, device: "pixel7" });
  const own = path.includes(keyText) ? headers : { authorization: `Bearer ${keyText}`, ...headers };
  const query = String(new URLSearchParams({ ...example.query }));
  if (method === "GET") return [takesReports(endpoint) ? `${path}?${query}` : path, { headers: own }];
  return [path, { method, headers: own, body: example.body === null ? query : JSON.stringify(example.body) }];
}

/** What goes with the path: the method, and the body that the endpoint's own example has. */
export function requestTo(endpoint: Endpoint, headers: Readonly<Record<string, string>> = {}): RequestInit {
  const { method } = endpoint;
  const body = JSON.stringify(BODIES[nameOf(endpoint)] ?? endpoint.operation?.body?.example);
  if (body === undefined) return method === "GET" ? { headers } : { method, headers };
  return { method, headers: { "content-type": "application/json", ...headers }, body };
}

/** Reports of the bus that are so inaccurate are there to be corrected. */
export const INACCURATE_METERS = 9_500_000;

/** Bodies that find something, where those of the document's examples don't. */
const BODIES: Readonly<Record<string, object>> = {
  "POST /api/v1/corrections": {
    action: "hide",
    device_id: BUS.device_id,
    start: Date.UTC(2025, 11, 1),
    end: Date.UTC(2026, 11, 1),
    accuracy_above: INACCURATE_METERS - 1,
  },
  "POST /api/v1/webhooks/:webhookId/redeliver": { since: 0 },
};

/** The path once more with each of its other parameters, one at a time. */
export function pathsWithEach(endpoint: Endpoint): readonly string[] {
  const path = pathTo(endpoint);
  const others = Object.entries(endpoint.query).filter(([, { required }]) => !required);
  return others.flatMap(([name, { schema }]) =>
    (FITTING[`${endpoint.path} ${name}`] ?? valuesOf(schema)).map((value) =>
      withParameter(path, `${name}=${encodeURIComponent(value)}${GO_WITH[name] ?? ""}`),
    ),
  );
}

/** Parameters that are taken beside some others alone. */
const GO_WITH: Readonly<Record<string, string>> = {
  simplify: "&format=gpx",
  rs: "&format=geojsonseq",
  kinds: "&types=event",
  watch_id: "&types=event",
  late: "&types=event",
  layer: `&start=${Date.UTC(2026, 2, 20)}&end=${Date.UTC(2026, 2, 21)}`,
};

/** Values that fit the body of the endpoint's example; others are refused. */
const FITTING: Readonly<Record<string, readonly string[]>> = {
  "/api/v1/imports format": ["geojson"],
  "/api/v1/geofences/import radius_meters": ["10", "100000"],
  "/api/v1/geofences/import buffer_meters": ["10", "100000"],
};

interface ValueSchema {
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly items?: { readonly enum?: readonly string[] };
  readonly minimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
  readonly pattern?: string;
}

/** Some values that a parameter may have. */
function valuesOf({
  type,
  format,
  enum: words,
  items,
  minimum,
  maximum,
  ...more
}: ValueSchema): readonly string[] {
  if (words !== undefined) return words;
  if (type === "boolean") return ["true", "false"];
  // Others are ids, which have to be known.
  if (type === "array")
    return items?.enum === undefined ? [] : [items.enum.slice(1, 4).join(), ...items.enum];
  if (format === "date") return ["2026-03-20"];
  if (type === "string") return more.pattern?.includes("14:00") ? ["Asia/Kathmandu", "+05:30"] : [];
  return [minimum, maximum, more.default, 2].filter((value) => value !== undefined).map(String);
}

/** What is wrong with the path and with the query, wherever it can be. */
export function wrongPathTo(endpoint: Endpoint): string {
  return endpoint.path.replaceAll(/:\w+/g, "%ff");
}

export function wrongQueryTo(endpoint: Endpoint, path = pathTo(endpoint)): string {
  const [name] = Object.keys(endpoint.query);
  return name === undefined ? path : withParameter(path, `${name}=1&${name}=1`);
}

/** The key of a test app that has this permission and no other, and one that lacks it. */
export const KEY_WITH = {
  read: "reader",
  write: "writer",
  edit: "editor",
  manage: "manager",
  erase: "eraser",
  operate: "operator",
} as const;
export const KEYS_WITHOUT = {
  read: ["writer", "editor", "manager", "eraser", "operator"],
  write: ["reader", "editor", "eraser", "operator", "viewer"],
  edit: ["reader", "writer", "manager", "eraser", "operator", "viewer"],
  manage: ["reader", "writer", "editor", "eraser", "operator", "viewer"],
  erase: ["reader", "writer", "editor", "manager", "operator", "viewer"],
  operate: ["reader", "writer", "editor", "eraser", "viewer"],
} as const satisfies Record<KeyedEndpoint["permission"], readonly KeyName[]>;

/** Keys of share links that show where the bus is. */
export const VIEWERS = ["viewer", "blurredViewer"] as const satisfies readonly KeyName[];

/** A key that may ask an endpoint, with no more permissions than it takes. */
export function keyFor({ permission, forWholeApp, alsoReads }: KeyedEndpoint): KeyName {
  return forWholeApp || alsoReads ? "full" : KEY_WITH[permission];
}

/** Endpoints that some tests name, to say what is true of one. */
export const READ_PATHS = {
  userCurrent: "/api/v1/users/driver/locations/current",
  userHistory: "/api/v1/users/driver/locations/history",
  userDevices: "/api/v1/users/driver/devices",
  deviceCurrent: "/api/v1/devices/bus/locations/current",
  deviceHistory: "/api/v1/devices/bus/locations/history",
  appCurrent: "/api/v1/locations/current",
  appHistory: "/api/v1/locations/history",
  nearby: "/api/v1/devices/nearby?latitude=53.4&longitude=-2.9",
} as const;

export type ReadEndpoint = keyof typeof READ_PATHS;

/**
 * Every path that answers about data, but for entries of the quarantine, of which nobody knows the ids before, and
 * files, which whoever asks has to read.
 */
export const EVERY_READ_PATH = READS.filter(({ path }) => !path.includes(":entryId"))
  .filter(answersJson)
  .map((endpoint) => pathTo(endpoint));
/** Those of them that take no other method. */
export const GET_ALONE_PATHS = READS.filter(
  ({ path }) => ENDPOINTS.filter((endpoint) => endpoint.path === path).length === 1,
)
  .map((endpoint) => pathTo(endpoint))
  .filter((path) => EVERY_READ_PATH.includes(path));
/** Those that need no key and answer with JSON. */
export const OPEN_PATHS = OPEN.filter(answersJson).map(({ path }) => path);

function answersJson({ operation }: Endpoint): boolean {
  if (operation === null) return false;
  return !("contentType" in operation.answer) || operation.answer.contentType === "application/json";
}

export const INGEST_PATH = "/ingest/v1/locations";

/** The endpoint's path with more parameters. */
export function withQuery(endpoint: ReadEndpoint, query: string): string {
  return withParameter(READ_PATHS[endpoint], query);
}

export const EARTH_RADIUS_METERS = 6_371_008.8;
export const METERS_PER_MILE = 1609.344;
/** One degree along a meridian, or along the equator. */
export const METERS_PER_DEGREE = (EARTH_RADIUS_METERS * Math.PI) / 180;
