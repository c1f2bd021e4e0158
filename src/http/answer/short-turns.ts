import { nextTurn } from "../../lib/schedule/next-turn.ts";

type Fetch = (request: Request) => Response | Promise<Response>;

/** 5 to 20 ms of the cheapest answers; whoever may ask for dear ones has a rate. */
const REQUESTS_A_TURN_MAX = 250;

/**
 * Looks at so many requests in a turn of the event loop, and at the rest in turns after it. Runtimes hand over all that
 * are there, and one client can send ten thousand at once over each of its connections. To put off a request is also
 * to ask its client for patience: Bun 1.4.5 closes a connection whose next request comes before the answer, as RFC 9112
 * §9.3.2 has clients that pipeline be ready for.
 */
export function inShortTurns(answer: Fetch): Fetch {
  let left = REQUESTS_A_TURN_MAX;

  return function answerInTurn(request): Response | Promise<Response> {
    if (left === 0) return nextTurn().then(() => answerInTurn(request));
    if (left === REQUESTS_A_TURN_MAX) {
      setImmediate(() => {
        left = REQUESTS_A_TURN_MAX;
      });
    }
    left--;
    return answer(request);
  };
}
