import { ApiError } from "../../../../src/web/api/api-error.ts";

interface Viewer {
  readonly controller: ReadableStreamDefaultController<Uint8Array>;
  told: number;
}

/** A server of positions, whose network the test is. It tells a viewer what changed when the test says so. */
export class ScriptedServer {
  readonly #newest = new Map<string, { readonly sequence: number; readonly timestamp: number }>();
  /** The earlier timestamps of each device, the oldest first. */
  readonly #earlier = new Map<string, number[]>();
  /** When the last position of a device was hidden. */
  readonly #removed = new Map<string, number>();
  #sequence = 100;
  /** What came before this is not known any more. */
  #forgotten = 0;
  #refusals = 0;
  #isSilent = false;
  #viewer: Viewer | null = null;
  /** The requests, in their order. */
  readonly asked: string[] = [];

  get sequence(): number {
    return this.#sequence;
  }

  /** Whether somebody listens. */
  get isHeard(): boolean {
    return this.#viewer !== null;
  }

  /** Timestamp and latitude of each device. */
  places(): Record<string, readonly [number, number]> {
    return Object.fromEntries(
      [...this.#newest].map(([id, { timestamp }]) => [id, [timestamp, timestamp / 10]]),
    );
  }

  readonly fetch = async (path: string, { headers, signal }: RequestInit): Promise<Response> => {
    const last = (headers as Readonly<Record<string, string>> | undefined)?.["last-event-id"];
    const asked = path.split("?")[0]!;
    this.asked.push(last === undefined ? asked : `${asked} ${last}`);
    signal?.throwIfAborted();
    if (this.#refusals > 0) {
      this.#refusals--;
      throw new ApiError(503, "the server is starting", { isOurs: true, retryAfterSeconds: 1 });
    }
    return path.startsWith("/api/v1/live") ? this.#stream(Number(last), signal!) : this.#snapshot();
  };

  report(id: string): void {
    this.#sequence++;
    const before = this.#newest.get(id);
    const earlier = this.#earlier.get(id) ?? [];
    if (before !== undefined) this.#earlier.set(id, [...earlier, before.timestamp]);
    this.#removed.delete(id);
    this.#newest.set(id, { sequence: this.#sequence, timestamp: this.#sequence });
  }

  /** Hides the newest position of a device. */
  hide(id: string): void {
    if (!this.#newest.has(id)) return;
    this.#sequence++;
    const timestamp = this.#earlier.get(id)?.pop();
    if (timestamp !== undefined) this.#newest.set(id, { sequence: this.#sequence, timestamp });
    else {
      this.#newest.delete(id);
      this.#removed.set(id, this.#sequence);
    }
  }

  /** An event of all that is new to the viewer, in pieces of so many bytes. */
  tell(cutBytes: number): void {
    this.#send(this.#event(), cutBytes);
    if (this.#viewer !== null) this.#viewer.told = this.#sequence;
  }

  /** The event breaks off. */
  tellHalf(cutBytes: number): void {
    const event = this.#event();
    this.#send(event.slice(0, event.length >> 1), cutBytes);
    this.breakOff();
  }

  beat(): void {
    if (this.#viewer !== null && this.#viewer.told === this.#sequence)
      this.#send(`: nothing new\nid: ${this.#sequence}\n\n`, 1000);
  }

  /** The connection ends as if all were well. */
  breakOff(): void {
    this.#viewer?.controller.close();
    this.#viewer = null;
  }

  fail(): void {
    this.#viewer?.controller.error(new TypeError("network error"));
    this.#viewer = null;
  }

  /** Connections stay open, and nothing comes any more. */
  silence(): void {
    this.#isSilent = true;
    this.#viewer = null;
  }

  /** As a restart does. */
  forget(): void {
    this.#forgotten = this.#sequence;
  }

  refuse(): void {
    this.#refusals++;
  }

  recover(): void {
    this.#isSilent = false;
    this.#refusals = 0;
  }

  #event(): string {
    const told = this.#viewer?.told ?? 0;
    const changed = [...this.#newest].filter(([, { sequence }]) => sequence > told);
    const locations = changed.map(([device_id, { timestamp }]) => ({
      device_id,
      timestamp,
      latitude: timestamp / 10,
      longitude: 0,
    }));
    const removed = [...this.#removed].filter(([, sequence]) => sequence > told);
    const gone = removed.map(
      ([device_id, sequence]) => `event: removed\ndata: ${JSON.stringify({ device_id, sequence })}\n\n`,
    );
    return `${gone.join("")}id: ${this.#sequence}\ndata: ${JSON.stringify({ locations })}\n\n`;
  }

  #send(text: string, cutBytes: number): void {
    const bytes = new TextEncoder().encode(text);
    const step = cutBytes + 1;
    for (let start = 0; start < bytes.length; start += step)
      this.#viewer?.controller.enqueue(bytes.slice(start, start + step));
  }

  #stream(since: number, signal: AbortSignal): Response {
    let begun: Viewer | null = null;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        signal.addEventListener("abort", () => {
          if (this.#viewer === begun) this.#viewer = null;
          controller.error(signal.reason);
        });
        if (this.#isSilent) return;
        begun = { controller, told: since };
        this.#viewer = begun;
        if (since < this.#forgotten) {
          begun.told = this.#sequence;
          this.#send(`event: reset\nid: ${this.#sequence}\ndata: {"message":"read on"}\n\n`, 1000);
        } else this.#send(`retry: 2000\nid: ${since}\ndata: {"locations":[]}\n\n`, 1000);
      },
      cancel: () => {
        if (this.#viewer === begun) this.#viewer = null;
      },
    });
    return new Response(body);
  }

  #snapshot(): Response {
    const ids = [...this.#newest.keys()].sort();
    const timestamp = ids.map((id) => this.#newest.get(id)!.timestamp);
    return Response.json({
      sequence: this.#sequence,
      device_id: ids,
      timestamp,
      latitude: timestamp.map((ms) => ms / 10),
      longitude: timestamp.map(() => 0),
    });
  }
}
