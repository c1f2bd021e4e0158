/**
 * Of work that goes on in every turn of the event loop, before it is left alone for a millisecond where it needs that.
 */
const BUSY_MS_MAX = 20;

let needsRest = false;
let restedMs = performance.now();

/**
 * Said once by a runtime whose event loop looks at the network only when it has nothing else to do: work that asks for
 * the next turn whenever it has one would keep all requests waiting for as long as it takes.
 */
export function restBetweenTurns(): void {
  needsRest = true;
}

/** Resolves after what waits on the event loop has had its turn: long work asks for it every few milliseconds. */
export function nextTurn(busyMsMax = BUSY_MS_MAX): Promise<void> {
  const isRestDue = needsRest && performance.now() - restedMs >= busyMsMax;
  return new Promise((resolve) => {
    if (isRestDue) setTimeout(() => resolve(rested()));
    else setImmediate(resolve);
  });
}

function rested(): void {
  restedMs = performance.now();
}
