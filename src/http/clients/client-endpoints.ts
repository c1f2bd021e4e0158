import type { Client, ClientAnswer, ClientName } from "../../clients/client.ts";
import { CLIENTS } from "../../clients/clients.ts";
import type { ClientEndpoint } from "../endpoint.ts";
import type { Operation, RequestBody } from "../openapi/operation.ts";
import { ALWAYS_SENT, RETRY_AFTER, SENT_WITH_ERROR, shared } from "../openapi/responses.ts";
import { ref, type Schema, type Schemas } from "../shapes/shape.ts";
import {
  ADDRESS_PARAMETERS,
  type ClientRoute,
  deviceSegment,
  KEY_PARAMETERS_DESCRIBED,
  keySegment,
} from "./client-request.ts";
import { CLIENT_EXAMPLES, type ClientExample } from "./examples.ts";
import { createMessageReceiver } from "./message-receiver.ts";

/* Creates the endpoints of every client from its description. */

/** Other servers' paths that clients have built in, if no two clients share them. */
const OTHER_PATHS: Partial<Record<ClientName, string>> = { owntracks: "/pub" };

/** Dawarich's paths. Under `/api/` other paths accept no key in a URL, so these are off by default. */
const DAWARICH_PATHS: Partial<Record<ClientName, string>> = {
  owntracks: "/api/v1/owntracks/points",
  overland: "/api/v1/overland/batches",
  traccar: "/api/v1/traccar/points",
};

const METHODS = ["GET", "POST"] as const;

const REPORT_DESCRIPTION = [
  "Needs the permission `write`. The client may send the key in any way that a client has. The reports belong to the key's app.",
  "A message that can't be used goes to the quarantine and is answered with success, because the client would repeat it",
  "forever. Answers to requests above the rate of the key's tier are delayed by up to 5 s.",
].join(" ");
const GREETING_DESCRIPTION = "Stores nothing. Needs the permission `write`.";

const WWW_AUTHENTICATE: Schemas = { "WWW-Authenticate": ref("headers", "WwwAuthenticate") };
const ALLOW: Schemas = { Allow: ref("headers", "Allow") };

export const CLIENT_ENDPOINTS: readonly ClientEndpoint[] = CLIENTS.flatMap((client) => {
  const path = `/ingest/${client.name}`;
  const other = OTHER_PATHS[client.name];
  return [
    ...endpointsAt(client, path),
    ...endpointsAt(client, `${path}/k/:key`),
    ...endpointsAt(client, `${path}/k/:key/:device`),
    ...(other === undefined ? [] : endpointsAt(client, other)),
  ];
});

export const DAWARICH_ENDPOINTS: readonly ClientEndpoint[] = CLIENTS.flatMap((client) => {
  const path = DAWARICH_PATHS[client.name];
  return path === undefined ? [] : endpointsAt(client, path);
});

function endpointsAt(client: Client, path: string): readonly ClientEndpoint[] {
  return METHODS.filter((method) => {
    const isQuestion = method === "GET" && client.greeting !== undefined;
    return isQuestion || client.methods.includes(method);
  }).map((method) => endpointAt(client, path, method));
}

function endpointAt(client: Client, path: string, method: "GET" | "POST"): ClientEndpoint {
  const route = { client, method, path };
  return {
    kind: "client",
    ...route,
    permission: "write",
    pathParameters: {
      ...(path.includes("/:key") ? { key: keySegment } : {}),
      ...(path.includes("/:device") ? { device: deviceSegment } : {}),
    },
    query: path.includes("/:key")
      ? ADDRESS_PARAMETERS
      : { ...ADDRESS_PARAMETERS, ...KEY_PARAMETERS_DESCRIBED },
    operation: describeClient(route, CLIENT_EXAMPLES[client.name]),
    example: CLIENT_EXAMPLES[client.name],
    open: (services) => createMessageReceiver(services, route),
  };
}

function describeClient(route: ClientRoute, example: ClientExample): Operation {
  const { method, path, client } = route;
  const isReport = client.methods.includes(method);
  const answer = isReport || client.greeting === undefined ? client.success : client.greeting("Anna's phone");
  const { contentType, body } = answer;
  return {
    operationId: `${method.toLowerCase()}${path
      .split(/[^a-z]/)
      .map(capitalized)
      .join("")}`,
    tag: "Clients",
    summary: isReport ? `Ingests messages of ${client.name}` : `Tells ${client.name} which key it has`,
    description: isReport ? REPORT_DESCRIPTION : GREETING_DESCRIPTION,
    security: path.includes("/:key") ? [] : [{ apiKey: [] }, { password: [] }, { queryKey: [] }],
    headers: isReport && client.takesQuery ? [freeQuery(example.query ?? {})] : [],
    ...(method === "POST" ? { body: bodyOf(example, client.takesQuery) } : {}),
    answer: {
      contentType: mediaTypeOf(contentType),
      description: isReport
        ? "Everything is on disk: as positions, or in the quarantine."
        : "The key's label.",
      schema: { example: contentType === "application/json" ? JSON.parse(body) : body },
    },
    failures: failuresOf(route),
  };
}

function freeQuery(example: Readonly<Record<string, string>>): Schema {
  return {
    name: "report",
    in: "query",
    description: "The report, in the client's own parameters.",
    required: false,
    style: "form",
    explode: true,
    schema: { type: "object", additionalProperties: { type: "string" } },
    example,
  };
}

function bodyOf({ body, query }: ClientExample, takesForms: boolean): RequestBody {
  const form = { schema: { type: "object", additionalProperties: { type: "string" } }, example: query ?? {} };
  return {
    description: "The client's message. Its first bytes decide its type, rather than its Content-Type.",
    isRequired: !takesForms,
    example: body,
    content: {
      ...(body === null ? {} : { "application/json": { schema: {}, example: body } }),
      ...(takesForms ? { "application/x-www-form-urlencoded": form } : {}),
    },
  };
}

/** All failures, each with one sentence in the client's format. */
function failuresOf({ method, client }: ClientRoute): Readonly<Record<number, Schema>> {
  const failed = (description: string, sentence: string, headers: Schemas = {}) => {
    const { contentType, body } = client.failure(sentence);
    const isJson = contentType === "application/json";
    const example = isJson ? (JSON.parse(body) as unknown) : body;
    const content = { [mediaTypeOf(contentType) ?? "text/plain"]: { schema: {}, example } };
    return { description, headers: { ...headers, ...ALWAYS_SENT, ...SENT_WITH_ERROR }, content };
  };
  const ofBodies: Record<number, Schema> = {
    413: failed("The body is larger than 16 MiB.", "the body must be at most 16 MiB"),
    415: failed(
      "The body is a file instead of a report (GPX, KML, multipart, an archive), or its content encoding is unknown.",
      "content-encoding must be gzip or zstd",
    ),
  };
  return {
    400: failed(
      "A parameter is invalid, or the request has neither parameters nor a body.",
      "speed_unit must be mps, kmh, kn, mph",
    ),
    401: failed(
      "The key is missing, invalid, or lacks the permission `write`.",
      "Unknown key",
      WWW_AUTHENTICATE,
    ),
    405: failed("The path has other methods.", `this path takes ${method}, not DELETE`, ALLOW),
    ...(method === "GET" ? {} : ofBodies),
    500: shared("ClientServerError"),
    503: failed("The server can't store it now; send it again.", "the server is stopping", RETRY_AFTER),
  };
}

function mediaTypeOf(contentType: ClientAnswer["contentType"]): string | null {
  return contentType?.split(";", 1)[0] ?? null;
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
