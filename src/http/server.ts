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
import { createUnrouted, type RoutedPath, shadowedRoutes } from "./unrouted.ts";

/* Serves every endpoint. The returned `fetch` answers any request and never throws. */

export interface ServerOptions extends Omit<ResponderOptions, "scheduler">, ObserveDependencies {
  readonly services: Services;
  readonly rateLimit: RateLimit;
  /** Served in addition to the permanent endpoints. */
  readonly moreEndpoints?: readonly Endpoint[];
  /** Delays answers and waiting queries. Defaults to the system's timers. */
  readonly wait?: Wait;
  /** Whether routes are compiled before the first request. Defaults to true; tests create many short-lived servers. */
  readonly precompile?: boolean;
}

export function createServer(options: ServerOptions) {
  const { services, moreEndpoints = [], precompile = true } = options;
  const endpoints = [...ENDPOINTS, ...moreEndpoints];
  const responder = new Responder({ ...options, scheduler: services.scheduler });
  const observe = createObserve(options);
  const routes = endpoints.flatMap(routedPathsOf);
  const answerUnrouted = createUnrouted(routes, responder);
  const handlerOf = createHandlers(options, responder, observe, answerUnrouted);

  // The bearer plugin applies to all routes after the first that uses it, and takes a third of their speed. Only what
  // writes passes it; the gate reads the token of other requests itself.
  const plain = new Elysia();
  const withBearer = new Elysia().use(bearerToken());
  for (const endpoint of endpoints) {
    const handler = handlerOf(endpoint);
    const hooks = endpoint.method === "GET" ? NO_HOOKS : NO_PARSER;
    for (const path of routesOf(endpoint)) {
      if (endpoint.kind === "keyed" && endpoint.method !== "GET") {
        withBearer.route(endpoint.method, path, ({ request, bearer }) => handler(request, bearer), hooks);
      } else {
        const answer = ({ request }: { request: Request }) => handler(request);
        // Bound, so that the framework can't infer from its source that it may return a promise, and wait a turn.
        plain.route(endpoint.method, path, answer.bind(null), hooks);
      }
    }
  }
  const unrouted = observe("any", "none", answerUnrouted);
  for (const { method, path } of shadowedRoutes(routes))
    plain.route(
      method,
      path,
      (({ request }: { request: Request }) => unrouted(request)).bind(null),
      NO_PARSER,
    );
  return new Elysia({ precompile, handler: { standardHostname: false } })
    .onError(({ code, error, request }) =>
      code === "NOT_FOUND" ? unrouted(request) : responder.fault(request, error),
    )
    .use(plain)
    .use(withBearer);
}

/** Creates the handler of an endpoint; each kind has its own gate. */
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
      const result = answer(request);
      if (!(result instanceof Promise)) return result;
      return result.catch((error: unknown) => responder.fault(request, error));
    });
  }
}

/** Endpoints read their bodies themselves, within limits. */
const NO_PARSER = { parse: "none" } as const;
/** With any parser, even none, the framework returns promises for synchronous answers, which costs a tenth. */
const NO_HOOKS = {};

/** The router's paths. It doesn't match an empty segment as a variable one, so those are separate. */
function routesOf({ path, pathParameters }: Endpoint): readonly string[] {
  const refused = Object.entries(pathParameters).filter(([, { refusesEmpty }]) => refusesEmpty);
  return [path, ...refused.map(([name]) => path.replace(`/:${name}`, "/"))];
}

function routedPathsOf(endpoint: Endpoint): readonly RoutedPath[] {
  const client = endpoint.kind === "client" ? endpoint.client : null;
  return routesOf(endpoint).map((path) => ({ method: endpoint.method, path, client }));
}

/** Why the service can't answer data requests, or null. */
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
