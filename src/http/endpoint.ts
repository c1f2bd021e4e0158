import type { Permission } from "../auth/key-file.ts";
import type { SignedIn } from "../auth/sessions.ts";
import type { Client } from "../clients/client.ts";
import { mapMaybe } from "../lib/schedule/maybe-promise.ts";
import type { ServiceError } from "../model/errors.ts";
import type { Answer, Responder } from "./answer/responder.ts";
import type { Call } from "./call.ts";
import type { ClientCall } from "./clients/client-gate.ts";
import type { ClientExample } from "./clients/examples.ts";
import { type Operation, refusedQuestion } from "./openapi/operation.ts";
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
 * One endpoint, whole. The router, the document, and the tests that ask every endpoint (for the data of another app, in
 * the wrong order, too often, by the wrong method) all walk the list of these in `endpoints.ts`.
 */
export type Endpoint = KeyedEndpoint | OpenEndpoint | ClientEndpoint | SessionEndpoint;

interface Route {
  readonly method: Method;
  /** A segment that starts with a colon is variable. */
  readonly path: string;
  /** The variable segments, by name. */
  readonly pathParameters: PathParameters;
  readonly query: QueryParameters;
  /** Null for files that the document doesn't name. */
  readonly operation: Operation | null;
}

/** Answers about the app of the key, or about the service to who operates it. */
export interface KeyedEndpoint extends Route {
  readonly kind: "keyed";
  /** What a key needs to ask. */
  readonly permission: Exclude<Permission, "view">;
  /** Whether keys with the permission `view` may ask too, and are answered what they show alone. */
  readonly isForViews: boolean;
  /** Whether a key must be able to write too, and be bound to nobody: what it does is done to all of its app. */
  readonly forWholeApp: boolean;
  /** Whether it is asked so often that the bearer plugin, which takes a third of its speed, must not come before it. */
  readonly isHot: boolean;
  /** Whether its answers have entity tags. */
  readonly isTagged: boolean;
  /** What answers its requests; called once a server. */
  open(services: Services): (call: Call) => Answer;
}

/**
 * Answers without a key, and so about no app. The kind `page` answers the map page alone, which needs no session for
 * it; the document names none of these.
 */
export interface OpenEndpoint extends Route {
  readonly kind: "open" | "page";
  readonly permission: null;
  open(services: Services, responder: Responder): (request: Request) => Answer;
}

/** Takes what a client sends in words of its own, with a key in any of its channels, and answers in its words too. */
export interface ClientEndpoint extends Route {
  readonly kind: "client";
  readonly method: "GET" | "POST";
  readonly permission: "write";
  readonly client: Client;
  /** A report that the client could send. */
  readonly example: ClientExample;
  open(services: Services): (call: ClientCall) => Answer;
}

/** What the map page asks for a signed-in user. The document names none of these. */
export interface SessionEndpoint extends Route {
  readonly kind: "session";
  readonly permission: null;
  open(services: Services): (call: Call, signedIn: SignedIn) => Answer;
}

/** An endpoint that answers a query about the app of the key, as its file declares it. */
interface QueryEndpoint<Path extends string, InPath, Query> extends Operation {
  readonly path: Path;
  /** Every variable segment of the path. */
  readonly inPath: InPath;
  readonly query: Query;
  /** A query that is refused, for the document's example of a 400; else one that gives a parameter twice. */
  readonly wrongQuery?: string;
  readonly isHot?: boolean;
  /** GET where it is left out. */
  readonly method?: Method;
  readonly forWholeApp?: boolean;
  /** Whether share links may ask it. Whoever says so cuts and blurs all answers by the view of the call. */
  readonly isForViews?: boolean;
  /**
   * Where answers have entity tags: another text whenever this one may be another, mostly of `services.versions`. Asked
   * for before the answer is begun.
   */
  versionOf?(services: Services, call: Call, values: PathValues<InPath> & QueryValues<Query>): string;
  open(services: Services): (call: Call, values: PathValues<InPath> & QueryValues<Query>) => Answer;
  /** Answers a query that is refused, where a plain failure won't do. */
  refuse?(call: Call, error: ServiceError, path: PathValues<InPath>): Answer;
}

/** Reads what the path and the query hold, in that order, and refuses what can't be read. */
export function queryEndpoint<
  const Path extends string,
  const InPath extends Readonly<Record<PathNames<Path>, PathParameter<unknown>>>,
  const Query extends QueryParameters,
>(declared: QueryEndpoint<Path, InPath, Query>): KeyedEndpoint {
  const { path, inPath, query, wrongQuery, isHot = false, versionOf, open, refuse, ...rest } = declared;
  const { method = "GET", forWholeApp = false, isForViews = false, ...operation } = rest;
  const pathParameters: PathParameters = inPath;
  const segments = segmentsOf(path, pathParameters);
  return {
    kind: "keyed",
    method,
    path,
    permission: "read",
    isForViews,
    forWholeApp,
    isHot,
    isTagged: versionOf !== undefined,
    pathParameters,
    query,
    operation: {
      ...operation,
      description: `${operation.description} Needs the permission \`read\`${alsoNeeded(isForViews, forWholeApp)}.`,
      failures: {
        ...refusedQuestion(pathParameters, query, wrongQuery),
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
        // Mostly all are known, and the names are not gone through again.
        return pairs.known === pairs.names.length ? answered : namingIgnored(pairs, query, answered);
      };
    },
  };
}

/** The answer, with the names of parameters that the endpoint doesn't know, which may be typos. */
function namingIgnored(pairs: QueryPairs, query: QueryParameters, answer: Answer): Answer {
  const ignored = ignoredParameters(pairs, query);
  if (ignored === null) return answer;
  return mapMaybe(answer, (response) => {
    response.headers.set("wherehouse-ignored-parameters", ignored);
    return response;
  });
}

const NOT_FOR_ALL: NonNullable<Operation["failures"]> = { 403: shared("NotForAll") };

function alsoNeeded(isForViews: boolean, forWholeApp: boolean): string {
  if (forWholeApp) return " and `write`, of a key that is bound to nobody";
  return isForViews ? " or `view`" : "";
}

/** Any other endpoint that needs a key. */
export function keyedEndpoint(
  declared: Operation &
    Pick<KeyedEndpoint, "method" | "path" | "permission" | "open"> &
    Partial<Pick<KeyedEndpoint, "query">>,
): KeyedEndpoint {
  const { method, path, permission, query = {}, open, ...operation } = declared;
  return {
    kind: "keyed",
    method,
    path,
    permission,
    isForViews: false,
    forWholeApp: false,
    isHot: false,
    isTagged: false,
    pathParameters: {},
    query,
    operation,
    open(services) {
      const answer = open(services);
      if (!path.startsWith("/api/v1/")) return answer;
      return (call) => namingIgnored(queryPairs(call.request.url), query, answer(call));
    },
  };
}

/** An endpoint that needs no key. */
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

/** A file that needs no key and that the document doesn't name. */
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
