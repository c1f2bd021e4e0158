import { Elysia } from "elysia";
import type { RateLimit } from "../auth/rate-limit.ts";
import { wait as machinesWait, type Wait } from "../lib/schedule/timers.ts";
import type { ServiceError } from "../model/errors.ts";
import { type Answer, Responder, type ResponderOptions } from "./answer/responder.ts";
import { createClientGate } from "./clients/client-gate.ts";
import type { Endpoint } from "./endpoint.ts";
import { ENDPOINTS } from "./endpoints.ts";
import { bearerToken, createGate } from "./gate.ts";
import { MinSequences } from "./min-sequence.ts";
import { createObserve, type Handler, type Observe, type ObserveDependencies } from "./observe.ts";
import { isFromPage } from "./request.ts";
import type { Readiness, Services } from "./services.ts";
import { createUnrouted, type RoutedPath } from "./unrouted.ts";

/*
 * Serves every endpoint. `fetch` of what it returns answers any request, and never throws.
 */

export interface ServerOptions extends Omit<ResponderOptions, "scheduler">, ObserveDependencies {
  /** What endpoints answer from. */
  readonly services: Services;
  readonly rateLimit: RateLimit;
  /** Served beside those that always are. */
  readonly moreEndpoints?: readonly Endpoint[];
  /** For answers that are held, and questions that wait; the machine's where it is left out. */
  readonly wait?: Wait;
  /** Whether routes are compiled before the first request; true by default. Tests have many servers that answer few. */
  readonly precompile?: boolean;
}

export function createServer(options: ServerOptions) {
  const { services, moreEndpoints = [], precompile = true } = options;
  const endpoints = [...ENDPOINTS, ...moreEndpoints];
  const responder = new Responder({ ...options, scheduler: services.scheduler });
  const observe = createObserve(options);
  const answerUnrouted = createUnrouted(endpoints.flatMap(routedPathsOf), responder);
  const handlerOf = createHandlers(options, responder, observe, answerUnrouted);

  // The bearer plugin serves all routes after the first that uses it, and takes a third of their speed.
  const plain = new Elysia();
  const withBearer = new Elysia().use(bearerToken());
  for (const endpoint of endpoints) {
    const handler = handlerOf(endpoint);
    const hooks = endpoint.method === "GET" ? NO_HOOKS : NO_PARSER;
    for (const path of routesOf(endpoint)) {
      if (endpoint.kind === "keyed" && !endpoint.isHot) {
        withBearer.route(endpoint.method, path, ({ request, bearer }) => handler(request, bearer), hooks);
      } else {
        const answer = ({ request }: { request: Request }) => handler(request);
        // Bound, so that the framework doesn't read from its source that it may promise, and waits a turn for each.
        plain.route(endpoint.method, path, answer.bind(null), hooks);
      }
    }
  }
  const unrouted = observe("any", "none", answerUnrouted);
  return new Elysia({ precompile, handler: { standardHostname: false } })
    .onError(({ code, error, request }) =>
      code === "NOT_FOUND" ? unrouted(request) : responder.fault(request, error),
    )
    .use(plain)
    .use(withBearer);
}

/** Makes what answers the requests of an endpoint: each kind has a gate of its own. */
function createHandlers(
  options: ServerOptions,
  responder: Responder,
  observe: Observe,
  wrongMethod: (request: Request) => Answer,
): (endpoint: Endpoint) => Handler {
  const { services, wait = machinesWait } = options;
  const { keys, sessions, clock, sequences } = services;
  const minSequences = new MinSequences({ sequences, wait });
  const unavailable = () => obstacleOf(services.readiness());
  const gate = createGate({
    ...options,
    keys,
    sessions,
    clock,
    responder,
    observe,
    unavailable,
    sequences,
    minSequences,
  });
  const clientGate = createClientGate({
    keys,
    clock,
    responder,
    observe,
    unavailable,
    stopping: services.stopping,
    wrongMethod,
    wait,
    share: options.rateLimit.share,
  });

  return function handlerOf(endpoint) {
    switch (endpoint.kind) {
      case "keyed":
        return gate.keyed(endpoint, endpoint.open(services));
      case "client":
        return clientGate.admitting(endpoint, endpoint.open(services));
      case "session":
        return gate.signedIn(endpoint, endpoint.open(services));
      case "open":
        return withoutKey(endpoint, endpoint.open(services, responder));
      case "page": {
        const answer = endpoint.open(services, responder);
        return withoutKey(endpoint, (request) =>
          isFromPage(request) ? answer(request) : responder.failure(request, { kind: "not_from_page" }),
        );
      }
    }
  };

  function withoutKey({ method, path }: Endpoint, answer: (request: Request) => Answer): Handler {
    return observe(method, path, (request) => {
      const answered = answer(request);
      if (!(answered instanceof Promise)) return answered;
      return answered.catch((error: unknown) => responder.fault(request, error));
    });
  }
}

/** Bodies are read by the endpoints that take one, within their bounds. */
const NO_PARSER = { parse: "none" } as const;
/** Any parser, even none, has the framework promise what is there at once, which costs a short answer a tenth. */
const NO_HOOKS = {};

/** Paths as the router takes them: it takes no empty segment for a variable one. */
function routesOf({ path, pathParameters }: Endpoint): readonly string[] {
  const refused = Object.entries(pathParameters).filter(([, { refusesEmpty }]) => refusesEmpty);
  return [path, ...refused.map(([name]) => path.replace(`/:${name}`, "/"))];
}

function routedPathsOf(endpoint: Endpoint): readonly RoutedPath[] {
  const client = endpoint.kind === "client" ? endpoint.client : null;
  return routesOf(endpoint).map((path) => ({ method: endpoint.method, path, client }));
}

/** What keeps the service from answering about data, as the caller is told. */
function obstacleOf(state: Readiness): ServiceError | null {
  switch (state.status) {
    case "ready":
    case "lagging":
      return null;
    case "starting":
      return {
        kind: "unavailable",
        message: "the server is starting: it reads its log",
        retryAfterSeconds: 1,
      };
    case "stopping":
      return { kind: "unavailable", message: "the server is stopping", retryAfterSeconds: 5 };
  }
}
