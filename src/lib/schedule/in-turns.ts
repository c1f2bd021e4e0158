import { FairQueue } from "./fair-queue.ts";
import type { MaybePromise } from "./maybe-promise.ts";
import { nextTurn } from "./next-turn.ts";

/** Work that says now and then, every tenth of a millisecond or so, that it may be interrupted. */
export type Steps<Value> = Generator<void, Value, void>;

/** What work takes of a turn of the event loop; everything else that waits comes after it. */
const SLICE_MS = 4;
/** What it takes at once where other work is waiting: enough for what is short. */
const SHORT_SLICE_MS = 0.25;

/** Work that goes on in a later turn. */
interface Task {
  /** True when it is over. */
  proceed(): boolean;
}

/** One queue for all, since the event loop is one too. */
const waiting = new FairQueue<string, Task>();
let isRunning = false;
/** What work that just came has taken of this turn, or of some before it. */
let spentMs = 0;
let isForgetting = false;

/**
 * Does work at once where it is short, and in turns with everything else where it is long; work of several owners
 * takes turns too. Rejects with the signal's reason once that comes. What happens between two steps, the work sees;
 * `lasting` makes of its value what is still good when a promise of it is heard.
 */
export function inTurns<Value>(
  owner: string,
  signal: AbortSignal,
  work: Steps<Value>,
  lasting: (value: Value) => Value = (value) => value,
): MaybePromise<Value> {
  const sliceMs = Math.min(SLICE_MS - spentMs, waiting.size === 0 ? SLICE_MS : SHORT_SLICE_MS);
  const startMs = performance.now();
  const first = runFor(work, sliceMs); // One step at least: Bun closes connections whose pipelined answers come later.
  noteSpent(performance.now() - startMs);
  if (first.done === true) return first.value;
  return new Promise<Value>((resolve, reject) => {
    waiting.add(owner, {
      proceed() {
        try {
          if (signal.aborted) work.return(undefined as never); // So that it can tidy up.
          signal.throwIfAborted();
          const next = runFor(work, SLICE_MS);
          if (next.done !== true) return false;
          resolve(lasting(next.value));
        } catch (error) {
          reject(error);
        }
        return true;
      },
    });
    if (!isRunning) void takeTurns();
  });
}

function runFor<Value>(work: Steps<Value>, ms: number): IteratorResult<void, Value> {
  const endMs = performance.now() + ms;
  for (;;) {
    const step = work.next();
    if (step.done === true || performance.now() >= endMs) return step;
  }
}

/** Many short pieces of work that come at once must not be one long piece. */
function noteSpent(ms: number): void {
  spentMs += ms;
  if (spentMs < SLICE_MS / 2 || isForgetting) return;
  isForgetting = true;
  void nextTurn().then(() => {
    spentMs = 0;
    isForgetting = false;
  });
}

/** One slice a turn, whoever's it is. */
async function takeTurns(): Promise<void> {
  isRunning = true;
  for (;;) {
    await nextTurn();
    const next = waiting.take();
    if (next === null) break;
    const [owner, task] = next;
    if (!task.proceed()) waiting.add(owner, task);
  }
  isRunning = false;
}
