import type { Query } from "../../../../src/web/api/api.ts";
import { ApiError } from "../../../../src/web/api/api-error.ts";
import { Retries } from "../../../../src/web/api/retries.ts";
import { VirtualTime } from "../../../support/stream/virtual-time.ts";
import { turns } from "../../../support/turns.ts";

/** The test wakes what waits. */
const PAUSE_MS = 1_000_000;

interface Asked {
  readonly path: string;
  readonly query: Query;
  readonly signal: AbortSignal | undefined;
  readonly answer: (body: unknown) => void;
  readonly fail: (error: Error) => void;
}

/** A server that answers when the test says, and whose requests can be given up. */
export class FakeServer {
  readonly retries = new Retries(() => PAUSE_MS, new VirtualTime());
  readonly asked: Asked[] = [];

  get<Body>(path: string, query: Query = {}, signal?: AbortSignal): Promise<Body> {
    return new Promise((resolve, reject) => {
      this.asked.push({ path, query, signal, answer: (body) => resolve(body as Body), fail: reject });
      signal?.addEventListener("abort", () => reject(new DOMException("given up", "AbortError")));
    });
  }

  /** Those that end so and are still wanted, the oldest first. */
  open(ending: string): readonly Asked[] {
    return this.asked.filter(({ path, signal }) => path.endsWith(ending) && signal?.aborted !== true);
  }

  /** The last that ends so. */
  last(ending: string): Asked {
    const asked = this.asked.findLast(({ path }) => path.endsWith(ending));
    if (asked === undefined) throw new Error(`nobody asked for ${ending}`);
    return asked;
  }

  async answerTrack(seconds: readonly number[]): Promise<void> {
    this.last("/track").answer({
      ...{ total: seconds.length, tolerance_meters: 0, gaps: [] },
      timestamp: seconds.map((second) => second * 1000),
      latitude: seconds.map(() => 0),
      longitude: seconds.map((_, index) => index / 1000),
    });
    await turns();
  }

  async answerStops(): Promise<void> {
    this.last("/stops").answer({ distance_meters: 10, moving_seconds: 1, stops: [] });
    await turns();
  }

  async answerCurrent(second: number): Promise<void> {
    const location = { timestamp: second * 1000, latitude: 1, longitude: 2, battery_level: 81 };
    this.last("/current").answer({ location });
    await turns();
  }

  /** Says no. */
  async refuse(ending: string): Promise<void> {
    this.last(ending).fail(new ApiError(400, "too many days", { isOurs: true }));
    await turns();
  }

  /** There is no such thing. */
  async refuseMissing(ending: string): Promise<void> {
    this.last(ending).fail(new ApiError(404, "not found", { isOurs: true }));
    await turns();
  }

  /** The request does not get through. */
  async drop(ending: string): Promise<void> {
    this.last(ending).fail(new ApiError(502, "The server answered 502."));
    await turns();
  }

  fetch(): Promise<Response> {
    throw new Error("nothing is loaded late here");
  }
}
