import { browserTimers, type Timers } from "../time/timers.ts";

/**
 * The bytes of a body as they come. It ends where nothing has come for so long, since no network tells that it is gone.
 * Only waiting for bytes counts, not what is done with them in between.
 */
export async function* watchedBytes(
  body: ReadableStream<Uint8Array>,
  silenceMsMax: number,
  timers: Timers = browserTimers,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  const stop = () => {
    reader.cancel().catch(() => undefined); // It has failed by itself: whoever reads is told.
  };
  try {
    for (;;) {
      const stopWatchdog = timers.after(silenceMsMax, stop);
      const { done, value } = await reader.read().finally(stopWatchdog);
      if (done) return;
      yield value;
    }
  } finally {
    stop();
  }
}
