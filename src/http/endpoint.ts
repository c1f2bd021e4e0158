import type { Permission } from "../auth/key-file.ts";
import type { SignedIn } from "../auth/sessions.ts";
import type { Client } from "../clients/client.ts";
import { mapMaybe } from "../lib/schedule/maybe-promise.ts";
import type { ServiceError } from "../model/errors.ts";
import type { Answer, Responder } from "./answer/responder.ts";
import type { Call } from "./call.ts";
import type { ClientCall } from "./clients/client-gate.ts";
import type { ClientExample } from "./clients/examples.ts";
import { type Operation, refusedParameters, refusedQuestion } from "./openapi/operation.ts";
import { shared } from "./openapi/responses.ts";
import {
  ignoredParameters,
  type QueryPairs,
  type QueryParameters,
  type QueryValues,
  queryPairs,
  readPairs,
} from "./parameters/parameter.ts";
import {
  type PathNames,
  type PathParameter,
  type PathParameters,
  type PathValues,
  readPath,
  segmentsOf,
} from "./parameters/path-parameter.ts";
import type { Method } from "./request.ts";
import type { Services } from "./services.ts";

/**
 * One endpoint, complete. The router, the OpenAPI document and the tests of every endpoint (for data of another app,
 * the order of checks, the rate limit, wrong methods) walk the list of these in `endpoints.ts`.
 */
export type Endpoint = KeyedEndpoint | OpenEndpoint | ClientEndpoint | SessionEndpoint;

interface Route {
  readonly method: Method;
  /** A segment that starts with a colon is variable. */
  readonly path: string;
  readonly pathParameters: PathParameters;
  readonly query: QueryParameters;
  /** Null for files that the document doesn't list. */
  readonly operation: Operation | null;
}

/** Answers about the key's app, or about the service for its operator. */
export interface KeyedEndpoint extends Route {
  readonly kind: "keyed";
  readonly permission: Exclude<Permission, "view">;
  /** Whether keys with the permission `view` are admitted too; they get only what they show. */
  readonly isForViews: boolean;
  /** Whether the key must also be able to write and be unbound, because the request affects the whole app. */
  readonly forWholeApp: boolean;
  /** Whether the key must also be able to read, because what the request makes tells what it could read. */
  readonly alsoReads: boolean;
  /** Whether the map page may send it with a session in place of a key. */
  readonly isForPage: boolean;
  readonly isTagged: boolean;
  /** Creates the function that answers its requests; called once per server. */
  open(services: Services): (call: Call) => Answer;
}

/** Answers without a key, so about no app. The kind `page` answers only the map page and is not in the document. */
export interface OpenEndpoint extends Route {
  readonly kind: "open" | "page";
  readonly permission: null;
  open(services: Services, responder: Responder): (request: Request) => Answer;
}

/** Accepts a client's messages in its own format, with a key in any of its places, and answers in its format. */
export interface ClientEndpoint extends Route {
  readonly kind: "client";
  readonly method: "GET" | "POST";
  readonly permission: "write";
  readonly client: Client;
  readonly example: ClientExample;
  open(services: Services): (call: ClientCall) => Answer;
}

/** Requests of the map page for a signed-in user. The document doesn't list these. */
export interface SessionEndpoint extends Route {
  readonly kind: "session";
  readonly permission: null;
  open(services: Services): (call: Call, signedIn: SignedIn) => Answer;
}

/** The declaration of an endpoint that answers a query about the key's app. */
interface QueryEndpoint<Path extends string, InPath, Query> extends Operation {
  readonly path: Path;
  readonly inPath: InPath;
  readonly query: Query;
  /** An invalid query for the document's example of a 400; by default one that repeats a parameter. */
  readonly wrongQuery?: string;
  readonly method?: Method;
  /** Defaults to `read`. */
  readonly permission?: "read" | "edit" | "manage" | "erase";
  readonly forWholeApp?: boolean;
  readonly alsoReads?: boolean;
  /** Whether share links may use it. Such an endpoint must cut and blur all answers by the call's view. */
  readonly isForViews?: boolean;
  /**
   * For answers with entity tags: a text that changes whenever the answer may change, mostly from `services.versions`.
   * Called before the answer is begun.
   */
  versionOf?(services: Services, call: Call, values: PathValues<InPath> & QueryValues<Query>): string;
  open(services: Services): (call: Call, values: PathValues<InPath> & QueryValues<Query>) => Answer;
  /** Answers an invalid query, if a plain failure won't do. */
  refuse?(call: Call, error: ServiceError, path: PathValues<InPath>): Answer;
}

/** Reads the path and the query, in that order, and refuses invalid values. */
export function queryEndpoint<
  const Path extends string,
  const InPath extends Readonly<Record<PathNames<Path>, PathParameter<unknown>>>,
  const Query extends QueryParameters,
>(declared: QueryEndpoint<Path, InPath, Query>): KeyedEndpoint {
  const { path, inPath, query, wrongQuery, versionOf, open, refuse, ...rest } = declared;
  const {
    method = "GET",
    permission = "read",
    forWholeApp = false,
    alsoReads = false,
    isForViews = false,
    ...operation
  } = rest;
  const pathParameters: PathParameters = inPath;
  const segments = segmentsOf(path, pathParameters);
  return {
    kind: "keyed",
    method,
    path,
    permission,
    isForViews,
    forWholeApp,
    alsoReads,
    isForPage: path.startsWith(API) && permission !== "erase",
    isTagged: versionOf !== undefined,
    pathParameters,
    query,
    operation: {
      ...operation,
      description: `${operation.description} Needs the permission \`${permission}\`${alsoNeeded(isForViews, forWholeApp, alsoReads)}.`,
      failures: {
        ...(permission === "read" || method === "GET" ? refusedQuestion : refusedParameters)(
          pathParameters,
          query,
          wrongQuery,
        ),
        ...(forWholeApp ? NOT_FOR_ALL : {}),
        ...operation.failures,
      },
    },
    open(services) {
      const answer = open(services);
      const answerPairs = (call: Call, pairs: QueryPairs) => {
        const { appId, request, longAnswers } = call;
        const values: Record<string, unknown> = {};
        const error = readPath(request.url, segments, values);
        if (error !== null) return call.fail(error);
        const read = readPairs(pairs, query, values);
        if (read.ok) {
          const all = values as PathValues<InPath> & QueryValues<Query>;
          if (versionOf === undefined) return longAnswers.make(appId, () => answer(call, all));
          return longAnswers.make(appId, () =>
            call.tagged(versionOf(services, call, all), (tagged) => answer(tagged, all)),
          );
        }
        if (refuse === undefined) return call.fail(read.error);
        return refuse(call, read.error, values as PathValues<InPath>);
      };
      return (call) => {
        const pairs = queryPairs(call.request.url);
        const answered = answerPairs(call, pairs);
        // Usually all names are known, which saves a second pass.
        return pairs.known === pairs.names.length ? answered : namingIgnored(pairs, query, answered);
      };
    },
  };
}

/** Adds a header with the names of unknown parameters, which may be typos. */
function namingIgnored(pairs: QueryPairs, query: QueryParameters, answer: Answer): Answer {
  const ignored = ignoredParameters(pairs, query);
  if (ignored === null) return answer;
  return mapMaybe(answer, (response) => {
    response.headers.set("wherehouse-ignored-parameters", ignored);
    return response;
  });
}

const NOT_FOR_ALL: NonNullable<Operation["failures"]> = { 403: shared("NotForAll") };

function alsoNeeded(isForViews: boolean, forWholeApp: boolean, alsoReads: boolean): string {
  if (forWholeApp) return " and `write`, with a key that is bound to no device or user";
  if (alsoReads) return " and `read`";
  return isForViews ? " or `view`" : "";
}

/** The map page asks and changes below this path with its session what the key behind it may, but for erasures. */
const API = "/api/v1/";

export function keyedEndpoint(
  declared: Operation &
    Pick<KeyedEndpoint, "method" | "path" | "permission" | "open"> &
    Partial<Pick<KeyedEndpoint, "query" | "isForPage">>,
): KeyedEndpoint {
  const { method, path, permission, query = {}, isForPage, open, ...operation } = declared;
  return {
    kind: "keyed",
    method,
    path,
    permission,
    isForViews: false,
    forWholeApp: false,
    alsoReads: false,
    isForPage: isForPage ?? (method === "GET" && permission === "read" && path.startsWith(API)),
    isTagged: false,
    pathParameters: {},
    query,
    operation,
    open(services) {
      const answer = open(services);
      if (!path.startsWith(API)) return answer;
      return (call) => namingIgnored(queryPairs(call.request.url), query, answer(call));
    },
  };
}

export function openEndpoint(declared: Operation & Pick<OpenEndpoint, "path" | "open">): OpenEndpoint {
  const { path, open, ...operation } = declared;
  return {
    kind: "open",
    method: "GET",
    path,
    permission: null,
    pathParameters: {},
    query: {},
    operation,
    open,
  };
}

/** A file that needs no key and is not listed in the document. */
export function hiddenEndpoint(
  path: string,
  open: OpenEndpoint["open"],
  pathParameters: PathParameters = {},
): OpenEndpoint {
  return { kind: "open", method: "GET", path, ...HIDDEN, pathParameters, open };
}

export function pageEndpoint(method: Method, path: string, open: OpenEndpoint["open"]): OpenEndpoint {
  return { kind: "page", method, path, ...HIDDEN, open };
}

export function sessionEndpoint(
  method: Method,
  path: string,
  open: SessionEndpoint["open"],
  pathParameters: PathParameters = {},
): SessionEndpoint {
  return { kind: "session", method, path, ...HIDDEN, pathParameters, open };
}

const HIDDEN = { permission: null, pathParameters: {}, query: {}, operation: null } as const;
