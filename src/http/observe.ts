import type { RequestMeter, RouteMeter } from "../service/metrics/meters.ts";
import type { Answer } from "./answer/responder.ts";

/** A request and what became of it; nothing that the client sent but its request's id. */
export interface Answered {
  readonly requestId: string;
  readonly method: string;
  /** As it is declared; `none` where no route took the request. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
}

/** Answers a request of one route. `bearerToken` is what the bearer plugin read, where it was used. */
export type Handler = (request: Request, bearerToken?: string | undefined) => Answer;

/** Has the answers of a route counted, and told to who wants to hear of each. */
export type Observe = (method: string, path: string, handler: Handler) => Handler;

export interface ObserveDependencies {
  readonly requests: RequestMeter;
  /** Told of every answer; null where nobody listens. */
  readonly onAnswered: ((answered: Answered) => void) | null;
}

export function createObserve({ requests, onAnswered }: ObserveDependencies): Observe {
  function end(route: RouteMeter, startedMs: number, response: Response): Response {
    const durationMs = performance.now() - startedMs;
    route.end(response.status, durationMs);
    if (onAnswered !== null) {
      const { method, path } = route;
      const requestId = response.headers.get("x-request-id") ?? "";
      onAnswered({ requestId, method, route: path, status: response.status, durationMs });
    }
    return response;
  }

  return (method, path, handler) => {
    const route = requests.route(method, path);
    return (request, bearerToken) => {
      const startedMs = performance.now();
      route.begin();
      const answer = handler(request, bearerToken);
      // Most answers are there at once, and a promise would cost them more than all of this.
      return answer instanceof Promise
        ? answer.then((response) => end(route, startedMs, response))
        : end(route, startedMs, answer);
    };
  };
}
