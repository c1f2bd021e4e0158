import { pause } from "../support/pause.ts";

/** Longer than the idle timeout of the tests, also where a runtime looks only every few seconds. */
const SLOWEST_MS = 6000;

export interface Answers {
  answer(request: Request): Response | Promise<Response>;
  /** Lets every `/slow` be answered, also those that have not come yet. */
  release(): void;
}

/** Answers at once, when released (`/slow`), after a long time (`/slowest`), or never (`/hang`). */
export function createAnswers(): Answers {
  const released = Promise.withResolvers<void>();
  return {
    release: released.resolve,
    answer(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/slow") return released.promise.then(() => new Response("slow"));
      if (pathname === "/slowest") return pause(SLOWEST_MS).then(() => new Response("slowest"));
      return pathname === "/hang" ? new Promise(() => {}) : new Response("quick");
    },
  };
}
