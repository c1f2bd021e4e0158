import { Elysia } from "elysia";
import type { KeyStore } from "../auth/key-store.ts";
import type { RateLimit } from "../auth/rate-limit.ts";
import { Responder, type ResponderOptions } from "./answer/responder.ts";
import type { Endpoint } from "./endpoint.ts";
import { ENDPOINTS } from "./endpoints.ts";
import type { HttpError } from "./errors.ts";
import { bearerToken, createGate } from "./gate.ts";
import { createObserve, type Handler, type ObserveDependencies } from "./observe.ts";
import type { Readiness, Services } from "./services.ts";
import { createUnrouted } from "./unrouted.ts";

/*
 * Serves every endpoint. `fetch` of what it returns answers any request, and never throws.
 */

export interface ServerOptions extends Omit<ResponderOptions, "scheduler">, ObserveDependencies {
  /** What endpoints answer from. */
  readonly services: Services;
  readonly keys: Pick<KeyStore, "find">;
  readonly rateLimit: RateLimit;
}

export function createServer(options: ServerOptions) {
  const { services } = options;
  const responder = new Responder({ ...options, scheduler: services.scheduler });
  const observe = createObserve(options);
  const unavailable = () => obstacleOf(services.readiness());
  const gate = createGate({ ...options, clock: services.clock, responder, observe, unavailable });

  function handlerOf(endpoint: Endpoint): Handler {
    if (endpoint.permission !== null) return gate.keyed(endpoint, endpoint.open(services));
    const answer = endpoint.open(services, responder);
    const fault = (request: Request) => (error: unknown) => responder.fault(request, error);
    return observe(endpoint.method, endpoint.path, (request) => {
      const answered = answer(request);
      return answered instanceof Promise ? answered.catch(fault(request)) : answered;
    });
  }

  // The bearer plugin serves all routes after the first that uses it, and takes a third of their speed.
  const isPlain = (endpoint: Endpoint) => endpoint.permission === null || endpoint.isHot;
  const plain = new Elysia();
  const withBearer = new Elysia().use(bearerToken());
  for (const endpoint of ENDPOINTS) {
    const handler = handlerOf(endpoint);
    for (const path of routesOf(endpoint)) {
      if (isPlain(endpoint)) {
        const answer = ({ request }: { request: Request }) => handler(request);
        // Bound, so that the framework doesn't read from its source that it may promise, and waits a turn for each.
        plain.route(endpoint.method, path, answer.bind(null));
      } else {
        withBearer.route(endpoint.method, path, ({ request, bearer }) => handler(request, bearer), NO_PARSER);
      }
    }
  }
  const unrouted = observe("any", "none", createUnrouted(ENDPOINTS.flatMap(methodsOf), responder));
  return new Elysia({ precompile: true, handler: { standardHostname: false } })
    .onError(({ code, error, request }) =>
      code === "NOT_FOUND" ? unrouted(request) : responder.fault(request, error),
    )
    .use(plain)
    .use(withBearer);
}

/** Bodies are read by the endpoints that take one, within their bounds. */
const NO_PARSER = { parse: "none" } as const;

/** Paths as the router takes them: it takes no empty segment for a variable one. */
function routesOf({ path, pathParameters }: Endpoint): readonly string[] {
  const refused = Object.entries(pathParameters).filter(([, { refusesEmpty }]) => refusesEmpty);
  return [path, ...refused.map(([name]) => path.replace(`/:${name}`, "/"))];
}

function methodsOf(endpoint: Endpoint) {
  return routesOf(endpoint).map((path) => ({ method: endpoint.method, path }));
}

/** What keeps the service from answering about data, as the caller is told. */
function obstacleOf(state: Readiness): HttpError | null {
  switch (state.status) {
    case "ready":
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
