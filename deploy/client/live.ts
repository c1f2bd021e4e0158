import type { AnswerOf, DeviceRecord, ItemOf, QueryOf } from "./answers.ts";
import { type Connection, type Values, wait } from "./connection.ts";
import { WherehouseError } from "./failure.ts";

/**
 * What a live stream tells. `snapshot` has all devices, in place of all that came before; `changed` has those that
 * changed since; `removed` is a device that shows no more.
 */
export type LiveEvent =
  | { readonly kind: "snapshot"; readonly locations: readonly DeviceRecord[] }
  | { readonly kind: "changed"; readonly locations: readonly DeviceRecord[] }
  | { readonly kind: "removed"; readonly deviceId: string };

/** Which devices a stream is about: all of the conditions must hold. */
export interface LiveFilters {
  /** West, south, east, north, in degrees. */
  readonly bbox?: readonly [number, number, number, number];
  readonly device_id?: readonly string[];
  readonly user_id?: string;
}

/** An event of a geofence or an alert, in the form that lists have. */
export type WatchEvent = ItemOf<AnswerOf<"/api/v1/events">>;

/**
 * A message of a stream of events. Store its `id` with your results, and continue with it as `since`. `reset` means that
 * the server does not know the place to continue at: ask for the events that you need; the stream goes on.
 */
export type EventsMessage =
  | { readonly kind: "events"; readonly events: readonly WatchEvent[]; readonly id: number }
  | { readonly kind: "reset"; readonly id: number };

type LiveQuery = QueryOf<"/api/v1/live">;

/** Which events a stream has: those for which all conditions hold. */
export interface EventFilters extends Pick<LiveQuery, "device_id" | "user_id" | "watch_id" | "late"> {
  readonly kinds?: readonly WatchEvent["kind"][];
  /** The `id` of a message, or the `after` of a list. Without it, the stream starts now. */
  readonly since?: number;
}

/** Something comes every 15 s: a connection that is silent for longer is dead. */
const SILENCE_MS_MAX = 40_000;
const RETRY_MS = 2000;

interface ServerEvent {
  readonly type: string;
  readonly data: string;
  readonly id: string | null;
}

/**
 * Follows the positions of devices for as long as it is iterated. A connection that breaks goes on where it was;
 * where that is not possible any more, a snapshot follows. Throws a `WherehouseError` if the key may not listen.
 */
export function follow(
  connection: Connection,
  filters: LiveFilters,
  readSnapshot: () => Promise<readonly DeviceRecord[]>,
  signal: AbortSignal | undefined,
): AsyncGenerator<LiveEvent> {
  const query = { ...filters, ...(filters.bbox === undefined ? {} : { bbox: filters.bbox.join(",") }) };
  return listenAlways(connection, { query, lastId: null, signal }, async function* (event, isFirst) {
    if (isFirst || event.type === "reset") yield { kind: "snapshot", locations: await readSnapshot() };
    else if (event.data !== "") yield* eventsOf(event);
  });
}

/** Like `follow`, but for the events of geofences and alerts. */
export function followEvents(
  connection: Connection,
  { since, kinds, ...filters }: EventFilters,
  signal: AbortSignal | undefined,
): AsyncGenerator<EventsMessage> {
  const query = { ...filters, types: "event", kinds: kinds?.join() };
  const lastId = since === undefined ? null : String(since);
  return listenAlways(connection, { query, lastId, signal }, async function* ({ type, data, id }) {
    if (type === "reset") yield { kind: "reset", id: Number(id) };
    else if (data !== "") {
      const { events } = JSON.parse(data) as { readonly events: readonly WatchEvent[] };
      if (events.length > 0) yield { kind: "events", events, id: Number(id) };
    }
  });
}

interface Listening {
  readonly query: Values;
  /** The id to continue after; null to start now. */
  readonly lastId: string | null;
  readonly signal: AbortSignal | undefined;
}

/** Yields what `tell` makes of each event, over one connection after the other. `isFirst` until an id is known. */
async function* listenAlways<News>(
  connection: Connection,
  { query, lastId: knownId, signal }: Listening,
  tell: (event: ServerEvent, isFirst: boolean) => AsyncIterable<News>,
): AsyncGenerator<News> {
  let lastId = knownId;
  for (;;) {
    let waitMs = RETRY_MS;
    try {
      for await (const event of listen(connection, query, lastId, signal)) {
        yield* tell(event, lastId === null);
        lastId = event.id ?? lastId; // Only now: what was not taken must come again.
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof WherehouseError) {
        if (error.retryAfterSeconds === null) throw error;
        waitMs = error.retryAfterSeconds * 1000;
      }
    }
    await wait(waitMs, signal);
  }
}

function* eventsOf({ type, data }: ServerEvent): Iterable<LiveEvent> {
  const members = JSON.parse(data) as {
    readonly locations?: readonly DeviceRecord[];
    readonly device_id?: string;
  };
  if (type === "removed") yield { kind: "removed", deviceId: members.device_id! };
  else if (members.locations !== undefined && members.locations.length > 0)
    yield { kind: "changed", locations: members.locations };
}

/** The events of one connection, until it ends or is silent. */
async function* listen(
  connection: Connection,
  query: Values,
  lastId: string | null,
  signal: AbortSignal | undefined,
): AsyncGenerator<ServerEvent> {
  const ending = new AbortController();
  const end = () => ending.abort();
  signal?.addEventListener("abort", end);
  let watchdog = setTimeout(end, SILENCE_MS_MAX);
  try {
    const headers = lastId === null ? {} : { "last-event-id": lastId };
    const { body } = await connection.send("/api/v1/live", { query, headers, signal: ending.signal });
    const reader = body!.getReader();
    const decoder = new TextDecoder();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(watchdog);
      watchdog = setTimeout(end, SILENCE_MS_MAX);
      const texts = (rest + decoder.decode(value, { stream: true })).split("\n\n");
      rest = texts.pop()!; // Not whole yet.
      for (const text of texts) yield parseEvent(text);
    }
  } finally {
    clearTimeout(watchdog);
    signal?.removeEventListener("abort", end);
    ending.abort();
  }
}

/** Server-Sent Events (HTML, 9.2.6), as far as the server uses them. */
function parseEvent(text: string): ServerEvent {
  let type = "message";
  let id: string | null = null;
  const data: string[] = [];
  for (const line of text.split("\n")) {
    const [name = "", value = ""] = line.split(/: ?(.*)/s);
    if (name === "event") type = value;
    else if (name === "id") id = value;
    else if (name === "data") data.push(value);
  }
  return { type, data: data.join("\n"), id };
}
