import { ANSWER_BOUNDS_SECONDS, Durations } from "./durations.ts";

/** Counts the answers of one route. */
export interface RouteMeter {
  readonly method: string;
  /** As it is declared, `/api/v1/devices/:deviceId/locations/current`: never what a client sent. */
  readonly path: string;
  /** A request came in. */
  begin(): void;
  /** It is answered, `durationMs` after it came in. */
  end(status: number, durationMs: number): void;
}

export interface CountedRoute {
  readonly method: string;
  readonly path: string;
  readonly durations: Durations;
  /** Answers by status. */
  readonly statuses: ReadonlyMap<number, number>;
}

/** Counts requests by route and status, and how long their answers took to make. */
export class RequestMeter {
  readonly routes: CountedRoute[] = [];
  /** Requests that came in and are not answered yet. */
  inFlight = 0;

  route(method: string, path: string): RouteMeter {
    const durations = new Durations(ANSWER_BOUNDS_SECONDS);
    const statuses = new Map<number, number>();
    this.routes.push({ method, path, durations, statuses });
    return {
      method,
      path,
      begin: () => {
        this.inFlight++;
      },
      end: (status, durationMs) => {
        this.inFlight--;
        durations.add(durationMs);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      },
    };
  }
}
