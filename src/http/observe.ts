import type { RequestMeter, RouteMeter } from "../service/metrics/meters.ts";
import type { Answer } from "./answer/responder.ts";

/** A request and its result. The request's id is the only value from the client. */
export interface Answered {
  readonly requestId: string;
  readonly method: string;
  /** The declared path; `none` if no route matched. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
}

/** Answers a request of one route. `bearerToken` is the bearer plugin's result, if it was used. */
export type Handler = (request: Request, bearerToken?: string | undefined) => Answer;

/** Counts a route's answers and reports each to a listener. */
export type Observe = (method: string, path: string, handler: Handler) => Handler;

export interface ObserveDependencies {
  readonly requests: RequestMeter;
  /** Called for every answer; null if there is no listener. */
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
      // Most answers are ready synchronously, and a promise would cost them more than everything here.
      return answer instanceof Promise
        ? answer.then((response) => end(route, startedMs, response))
        : end(route, startedMs, answer);
    };
  };
}
