import type { Permission } from "../../auth/key-file.ts";
import { assert } from "../../lib/assert.ts";
import { MIN_SEQUENCE_HEADER, WRONG_MIN_SEQUENCE } from "../min-sequence.ts";
import { type QueryParameters, readQuery } from "../parameters/parameter.ts";
import { type PathParameters, unreadable } from "../parameters/path-parameter.ts";
import type { Method } from "../request.ts";
import { ref, type Schema, type Schemas, type Shape } from "../shapes/shape.ts";
import {
  ALWAYS_SENT,
  exampleOf,
  failure,
  SENT_IF_IGNORED,
  SENT_WITH_DATA,
  SENT_WITH_KEY,
  SENT_WITH_TAG,
  shared,
} from "./responses.ts";

export type Tag =
  | "Users"
  | "Devices"
  | "App"
  | "Geofences"
  | "Webhooks"
  | "Nearby"
  | "Ingest"
  | "Clients"
  | "Service";

/** The successful answer of an endpoint: a named object of a shape, or something else. */
export type DescribedAnswer =
  | {
      readonly name: string;
      readonly description: string;
      readonly shape: Shape<never>;
      readonly example: unknown;
    }
  /** One of several types, or null for an empty body. */
  | {
      readonly contentType: string | readonly string[] | null;
      readonly description: string;
      readonly schema: Schema;
    };

/** The description of an endpoint, except what follows from its path, permission and parameters. */
export interface Operation {
  readonly operationId: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description: string;
  readonly answer: DescribedAnswer;
  /** Its own failures by status; they override those of its kind. */
  readonly failures?: Readonly<Record<number, Schema>>;
  /** Headers that it reads, as parameters of the document. */
  readonly headers?: readonly Schema[];
  readonly responseHeaders?: Schemas;
  readonly body?: RequestBody;
  /** Ways to send the key, if they differ from the usual one. */
  readonly security?: readonly Schema[];
  /** Schemas by name that its answer, its failures and its body refer to. */
  readonly schemas?: Schemas;
}

export interface RequestBody {
  readonly description: string;
  readonly isRequired?: boolean;
  readonly example: unknown;
  readonly content: Schemas;
}

export interface DescribedEndpoint {
  readonly kind: "keyed" | "open" | "client";
  readonly permission: Exclude<Permission, "view"> | null;
  readonly method?: Method;
  readonly isTagged?: boolean;
  readonly pathParameters: PathParameters;
  readonly query: QueryParameters;
  readonly operation: Operation;
}

export function describeOperation(endpoint: DescribedEndpoint): Schema {
  const { kind, permission, method, isTagged = false, pathParameters, query, operation } = endpoint;
  const reads = permission === "read" || (permission === "edit" && method === "GET");
  const { operationId, tag, summary, description, answer, failures, headers = [], body } = operation;
  const conditions = [
    ...(isTagged ? [IF_NONE_MATCH] : []),
    ...(kind === "keyed" && reads ? [MIN_SEQUENCE_HEADER] : []),
  ];
  const parameters = [...describePath(pathParameters), ...describeQuery(query), ...conditions, ...headers];
  const aboutData = isTagged ? SENT_WITH_TAG : SENT_WITH_DATA;
  const sentWithKey = permission === "operate" ? SENT_WITH_KEY : aboutData;
  const sentWithAnswer = reads ? { ...sentWithKey, ...SENT_IF_IGNORED } : sentWithKey;
  return {
    operationId,
    summary,
    description,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: describeBody(body) }),
    tags: [tag],
    security: operation.security ?? (permission === null ? [] : [{ apiKey: [] }]),
    responses: {
      200: describeAnswer(answer, {
        ...(kind === "keyed" ? sentWithAnswer : ALWAYS_SENT),
        ...operation.responseHeaders,
      }),
      ...(isTagged ? { 304: shared("Unchanged") } : {}),
      ...(kind === "keyed" && permission !== null ? KEYED_FAILURES[permission] : {}),
      ...(Object.keys(pathParameters).length === 0 ? {} : { 404: shared("NoSuchPath") }),
      405: shared("WrongMethod"),
      500: shared("ServerError"),
      ...failures,
    },
  };
}

/** The header of a body that may be compressed. */
export const CONTENT_ENCODING: Schema = {
  name: "Content-Encoding",
  in: "header",
  required: false,
  description: "How the body is compressed.",
  schema: { type: "string", enum: ["identity", "gzip", "zstd"], default: "identity" },
};

const IF_NONE_MATCH: Schema = {
  name: "If-None-Match",
  in: "header",
  required: false,
  description: "The ETag of a cached answer; if it is still valid, the answer is a 304.",
  schema: { type: "string" },
};

function describeBody({ isRequired = true, description, content }: RequestBody): Schema {
  return { required: isRequired, description, content };
}

/** Failures of every endpoint that needs a key. */
const KEYED_FAILURES: Readonly<Record<Exclude<Permission, "view">, Readonly<Record<number, Schema>>>> = {
  read: { ...keyedFailures("NoRead"), 503: shared("Unavailable") },
  write: { ...keyedFailures("NoWrite"), 503: shared("Unavailable") },
  edit: { ...keyedFailures("NoEdit"), 503: shared("Unavailable") },
  manage: { ...keyedFailures("NoManage"), 503: shared("Unavailable") },
  erase: { ...keyedFailures("NoErase"), 503: shared("Unavailable") },
  operate: keyedFailures("NoOperate"), // Answers also while the server starts and stops.
};

function keyedFailures(forbidden: "NoRead" | "NoWrite" | "NoEdit" | "NoManage" | "NoErase" | "NoOperate") {
  return { 401: shared("Unauthorized"), 403: shared(forbidden), 429: shared("TooMany") };
}

function describeAnswer(answer: DescribedAnswer, headers: Schemas): Schema {
  const { description } = answer;
  if ("contentType" in answer) {
    const { contentType, schema } = answer;
    const types = typeof contentType === "string" ? [contentType] : (contentType ?? []);
    if (types.length === 0) return { description, headers };
    return { description, headers, content: Object.fromEntries(types.map((type) => [type, { schema }])) };
  }
  const { name, example } = answer;
  return { description, headers, content: { "application/json": { schema: ref("schemas", name), example } } };
}

function describePath(parameters: PathParameters): readonly Schema[] {
  return Object.entries(parameters).map(([name, { description, schema, example }]) => ({
    name,
    in: "path",
    required: true,
    description,
    schema,
    example: schema.type === "integer" ? Number(example) : example,
  }));
}

function describeQuery(parameters: QueryParameters): readonly Schema[] {
  return Object.entries(parameters).map(([name, { description, required, schema, isJoined, example }]) => ({
    name,
    in: "query",
    required,
    description,
    ...(isJoined ? { style: "form", explode: false } : {}),
    schema,
    ...(example === undefined ? {} : { example }),
  }));
}

/** The 400 for invalid path segments and parameters, if there can be any; `wrong` is an invalid query. */
export function refusedParameters(
  path: PathParameters,
  query: QueryParameters,
  wrong?: string,
): Readonly<Record<number, Schema>> {
  const examples = examplesOfRefused(path, query, wrong);
  return Object.keys(examples).length === 0 ? {} : { 400: refusal(path, SENT_WITH_KEY, examples) };
}

/** Like `refusedParameters`, for a query about data, which may also have an invalid minimum sequence. */
export function refusedQuestion(
  path: PathParameters,
  query: QueryParameters,
  wrong?: string,
): Readonly<Record<number, Schema>> {
  const examples = examplesOfRefused(path, query, wrong);
  const also = { invalid_min_sequence: exampleOf(WRONG_MIN_SEQUENCE) };
  return { 400: refusal(path, SENT_WITH_DATA, { ...examples, ...also }) };
}

type Examples = Readonly<Record<string, unknown>>;

function refusal(path: PathParameters, headers: Schemas, examples: Examples): Schema {
  const refusals = refusalsOf(path);
  const also = refusals.map(({ description }) => `, or ${description}`).join("");
  const bodies = ["PlainError", ...refusals.map(({ body }) => body)];
  return failure(`A parameter is invalid${also}.`, headers, bodies, examples);
}

function refusalsOf(path: PathParameters) {
  return Object.values(path).flatMap(({ refusal }) => (refusal === null ? [] : [refusal]));
}

function examplesOfRefused(path: PathParameters, query: QueryParameters, wrong?: string): Examples {
  const [name = Object.keys(path)[0]] = Object.keys(query);
  if (name === undefined) return {};
  return {
    invalid_parameter: exampleOfWrong(name, query, wrong),
    ...("timezone" in query ? { invalid_timezone: exampleOf(WRONG_ZONE) } : {}),
    ...Object.fromEntries(refusalsOf(path).map(({ error }) => [error.kind, exampleOf(error)])),
  };
}

function exampleOfWrong(name: string, query: QueryParameters, wrong?: string): unknown {
  return name in query
    ? exampleOfRefused(query, wrong ?? `${name}=1&${name}=1`)
    : exampleOf(unreadable(name));
}

const WRONG_ZONE = { kind: "invalid_timezone", supplied: "Mars/Olympus" } as const;

/** The body of the answer to a query that these parameters refuse. */
export function exampleOfRefused(parameters: QueryParameters, query: string): unknown {
  const read = readQuery(`?${query}`, parameters);
  assert(!read.ok, "the example of a refused query is refused");
  return exampleOf(read.error);
}
