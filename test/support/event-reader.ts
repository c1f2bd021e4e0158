/** Reads Server-Sent Events from a response (WHATWG HTML §9.2.6). */

export interface StreamEvent {
  readonly type: string;
  /** The id of the last event that had one. */
  readonly id: string;
  readonly data: string;
}

/** A record of the stream, with the members that tests use. */
export interface StreamedRecord extends Readonly<Record<string, unknown>> {
  readonly device_id: string;
  readonly timestamp: number;
  readonly latitude: number;
  readonly longitude: number;
}

/** Turns of the event loop: far more than the server needs to send everything. */
const QUIET_TURNS = 200;

export class EventReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #line = "";
  #lines: string[] = [];
  #lastId = "";
  /** The text received so far. */
  text = "";

  constructor(response: Response) {
    this.#reader = response.body!.getReader();
  }

  /** Returns the next event, or null at the end of the stream. */
  async next(): Promise<StreamEvent | null> {
    let [type, data]: [string, string[]] = ["message", []];
    for (let line = await this.#nextLine(); line !== null; line = await this.#nextLine()) {
      const [, name = "", value = ""] = /^([^:]*):? ?(.*)$/.exec(line)!;
      if (line === "" && data.length > 0) return { type, id: this.#lastId, data: data.join("\n") };
      if (line === "") [type, data] = ["message", []];
      else if (name === "event") type = value;
      else if (name === "data") data.push(value);
      else if (name === "id") this.#lastId = value;
    }
    return null;
  }

  /** Returns the records of the next events, up to and including the first match. */
  async recordsUntil(isLast: (record: StreamedRecord) => boolean): Promise<StreamedRecord[]> {
    const all: StreamedRecord[] = [];
    for (;;) {
      const event = await this.next();
      if (event?.type !== "message") throw new Error(`no event with records, but ${JSON.stringify(event)}`);
      const records = recordsOf(event);
      all.push(...records);
      if (records.some(isLast)) return all;
    }
  }

  /** Returns the text up to the first record, or until the server in this process is quiet. */
  async untilRecordOrQuiet(): Promise<string> {
    let turns = 0;
    const read = async () => {
      while (!this.text.includes('"locations":[{') && (await this.#read()) !== null) turns = 0;
      turns = QUIET_TURNS;
    };
    const reading = read();
    for (; turns < QUIET_TURNS; turns++) await new Promise((resolve) => setImmediate(resolve));
    await this.cancel();
    await reading;
    return this.text;
  }

  cancel(): Promise<void> {
    return this.#reader.cancel();
  }

  async #nextLine(): Promise<string | null> {
    while (this.#lines.length === 0) {
      const text = await this.#read();
      if (text === null) return null;
      const lines = (this.#line + text).split("\n");
      this.#line = lines.pop()!;
      this.#lines = lines;
    }
    return this.#lines.shift()!;
  }

  async #read(): Promise<string | null> {
    const { done, value } = await this.#reader.read();
    if (done) return null;
    const text = this.#decoder.decode(value, { stream: true });
    this.text += text;
    return text;
  }
}

export function recordsOf(event: StreamEvent): readonly StreamedRecord[] {
  return (JSON.parse(event.data) as { locations: readonly StreamedRecord[] }).locations;
}

/** Returns the body of an answer of a server in this process; for an endless stream, the text until it is quiet. */
export function textOf(response: Response): Promise<string> {
  const isStream = response.headers.get("content-type") === "text/event-stream" && response.body !== null;
  return isStream ? new EventReader(response).untilRecordOrQuiet() : response.text();
}
