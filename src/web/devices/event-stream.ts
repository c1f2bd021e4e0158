import type { Timers } from "../time/timers.ts";

/* The live stream on the network: its bytes, and the events in them. */

/** An event of the live stream. */
export interface SseEvent {
  /** `message` if the stream names no type, and for a heartbeat, which has no data. */
  readonly type: string;
  readonly data: string | null;
  /** The position from which a later connection resumes; null if the event has no id. */
  readonly id: string | null;
}

/**
 * Parses Server-Sent Events from a text that arrives in pieces, cut anywhere (WHATWG HTML §9.2). Unlike `EventSource`
 * it yields an id without data, which is a heartbeat. Lines end in LF or CRLF.
 */
export class SseParser {
  /** The pieces of an unfinished line. They are joined only once, since an event may be a megabyte. */
  #line: string[] = [];
  #type = "message";
  #data: string | null = null;
  #id: string | null = null;

  /** Returns the events that this piece completes. */
  push(text: string): SseEvent[] {
    const events: SseEvent[] = [];
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      this.#line.push(text.slice(start, end));
      const line = this.#line.length === 1 ? this.#line[0]! : this.#line.join("");
      this.#line = [];
      start = end + 1;
      this.#parseLine(line.endsWith("\r") ? line.slice(0, -1) : line, events);
    }
    if (start < text.length) this.#line.push(text.slice(start));
    return events;
  }

  #parseLine(line: string, events: SseEvent[]): void {
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

/** Yields the events of a stream as they arrive. It ends as `watchedBytes` does. */
export async function* streamedEvents(response: Response, timers: Timers): AsyncGenerator<SseEvent> {
  const parser = new SseParser();
  const decoder = new TextDecoder();
  for await (const bytes of watchedBytes(response, timers))
    yield* parser.push(decoder.decode(bytes, { stream: true }));
}

/** The server sends a heartbeat every 15 s. */
const SILENCE_MS_MAX = 40_000;

/**
 * Yields the bytes of a response, and ends after 40 s without any: a network that fails sends no error. Only the time
 * that is spent waiting for bytes counts.
 */
export async function* watchedBytes({ body }: Response, timers: Timers): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = body.getReader();
  const stop = () => {
    reader.cancel().catch(() => undefined); // Rejects if the body has failed; `read` reports that.
  };
  try {
    for (;;) {
      const stopWatchdog = timers.after(SILENCE_MS_MAX, stop);
      const { done, value } = await reader.read().finally(stopWatchdog);
      if (done) return;
      yield value;
    }
  } finally {
    stop();
  }
}
