import { browserTimers, type Timers } from "../time/timers.ts";

/* The live stream as it comes over the network: watched bytes, and the events in them. */

/** An event of the live stream. */
export interface SseEvent {
  /** `message` if the stream names no type, and for a beat, which has no data. */
  readonly type: string;
  readonly data: string | null;
  /** Where to go on from once this event is taken; null if the event has no id. */
  readonly id: string | null;
}

/**
 * Server-Sent Events of a text that comes in pieces, cut anywhere (WHATWG HTML §9.2). Unlike `EventSource` it yields
 * an id without data, which is a beat. Lines end in LF or CRLF.
 */
export class SseParser {
  /** Pieces of a line whose end has not come; joined once, since an event may be a megabyte. */
  #line: string[] = [];
  #type = "message";
  #data: string | null = null;
  #id: string | null = null;

  /** The events that this piece completes. */
  push(text: string): SseEvent[] {
    const events: SseEvent[] = [];
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      this.#line.push(text.slice(start, end));
      const line = this.#line.length === 1 ? this.#line[0]! : this.#line.join("");
      this.#line = [];
      start = end + 1;
      this.#take(line.endsWith("\r") ? line.slice(0, -1) : line, events);
    }
    if (start < text.length) this.#line.push(text.slice(start));
    return events;
  }

  #take(line: string, events: SseEvent[]): void {
    if (line === "") {
      if (this.#data !== null || this.#id !== null)
        events.push({ type: this.#type, data: this.#data, id: this.#id });
      this.#type = "message";
      this.#data = null;
      this.#id = null;
      return;
    }
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "event") this.#type = value;
    else if (name === "data") this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
    else if (name === "id") this.#id = value;
  }
}

/**
 * Yields the bytes of a body as they come, and ends if none have come for `silenceMsMax`: a network does not tell that
 * it is gone. Only the time that is spent waiting for bytes counts.
 */
export async function* watchedBytes(
  body: ReadableStream<Uint8Array>,
  silenceMsMax: number,
  timers: Timers = browserTimers,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  const stop = () => {
    reader.cancel().catch(() => undefined); // The body has failed by itself, and the reader is told.
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
