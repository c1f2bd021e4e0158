import type { AnswerOf, DeviceRecord, PageItemOf, QueryOf, Question } from "./answers.ts";
import { Connection, type ConnectionOptions, type Values } from "./connection.ts";
import {
  type EventFilters,
  type EventsMessage,
  follow,
  followEvents,
  type LiveEvent,
  type LiveFilters,
} from "./live.ts";
import { type QueueOptions, ReportQueue } from "./report-queue.ts";

export type { AnswerOf, DeviceRecord, QueryOf, Question, Report } from "./answers.ts";
export type { ConnectionOptions } from "./connection.ts";
export { WherehouseError } from "./failure.ts";
export type { EventFilters, EventsMessage, LiveEvent, LiveFilters, WatchEvent } from "./live.ts";
export { type QueueOptions, ReportQueue } from "./report-queue.ts";

const DEVICE_CURRENT = "/api/v1/devices/{deviceId}/locations/current";
const DEVICE_HISTORY = "/api/v1/devices/{deviceId}/locations/history";
const USER_CURRENT = "/api/v1/users/{user_id}/locations/current";
const USER_HISTORY = "/api/v1/users/{user_id}/locations/history";
const APP_CURRENT = "/api/v1/locations/current";
const APP_HISTORY = "/api/v1/locations/history";

/** Records of a page, where the caller names no other number. */
const PAGE = 1000;

interface Page {
  readonly pagination: { readonly has_more: boolean; readonly count: number };
}

/** What a question needs besides its path. */
export interface Asked<Path extends Question, Query = QueryOf<Path>> {
  /** Values of the names in braces. */
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Query;
  readonly signal?: AbortSignal;
}

/** A client of one server with one key. Methods throw a `WherehouseError` if the server refuses. */
export class Wherehouse {
  readonly #connection: Connection;

  constructor(options: ConnectionOptions) {
    this.#connection = new Connection(options);
  }

  readonly devices = {
    /** Who is near a point, the nearest first. */
    nearby: (query: QueryOf<"/api/v1/devices/nearby">) => this.get("/api/v1/devices/nearby", { query }),
    /** Where a device is; null if it has not reported. */
    current: (deviceId: string, query?: QueryOf<typeof DEVICE_CURRENT>) =>
      orNull(this.get(DEVICE_CURRENT, { path: { deviceId }, ...asked(query) })),
    /** Where a device was, by date. */
    history: <Query extends QueryOf<typeof DEVICE_HISTORY>>(deviceId: string, query?: Query) =>
      this.pages<typeof DEVICE_HISTORY, Query>(DEVICE_HISTORY, { path: { deviceId }, ...asked(query) }),
  };

  readonly users = {
    current: <Query extends QueryOf<typeof USER_CURRENT>>(user_id: string, query?: Query) =>
      this.pages<typeof USER_CURRENT, Query>(USER_CURRENT, { path: { user_id }, ...asked(query) }),
    history: <Query extends QueryOf<typeof USER_HISTORY>>(user_id: string, query?: Query) =>
      this.pages<typeof USER_HISTORY, Query>(USER_HISTORY, { path: { user_id }, ...asked(query) }),
  };

  /** Questions about all devices of the app. */
  readonly locations = {
    current: <Query extends QueryOf<typeof APP_CURRENT>>(query?: Query) =>
      this.pages<typeof APP_CURRENT, Query>(APP_CURRENT, asked(query)),
    history: <Query extends QueryOf<typeof APP_HISTORY>>(query?: Query) =>
      this.pages<typeof APP_HISTORY, Query>(APP_HISTORY, asked(query)),
  };

  /** Asks any path of the API. */
  get<Path extends Question>(path: Path, { path: names, query, signal }: Asked<Path> = {}) {
    return this.#connection.ask<AnswerOf<Path>>(pathText(path, names), query as Values | undefined, signal);
  }

  /** Everything that a path with pages has, page after page, one at a time. */
  async *pages<Path extends Question, const Query extends QueryOf<Path> = QueryOf<Path>>(
    path: Path,
    { query, ...rest }: Asked<Path, Query> = {},
  ): AsyncGenerator<PageItemOf<Path, Query>> {
    const { offset = 0, limit = PAGE } = (query ?? {}) as {
      readonly offset?: number;
      readonly limit?: number;
    };
    for (let at = offset; ; ) {
      const page = { ...query, offset: at, limit } as unknown as QueryOf<Path>;
      const answer = (await this.get(path, { ...rest, query: page })) as AnswerOf<Path> & Page;
      const items = Object.values(answer).find(Array.isArray) as PageItemOf<Path, Query>[];
      yield* items;
      if (!answer.pagination.has_more || items.length === 0) return;
      at += items.length;
    }
  }

  /** Where devices are as they move, until the iteration ends or `signal` aborts. Connects again by itself. */
  live(filters: LiveFilters = {}, signal?: AbortSignal): AsyncGenerator<LiveEvent> {
    return follow(this.#connection, filters, () => this.#snapshot(filters, signal), signal);
  }

  /** Like `live`, but for the events of geofences and alerts. */
  liveEvents(filters: EventFilters = {}, signal?: AbortSignal): AsyncGenerator<EventsMessage> {
    return followEvents(this.#connection, filters, signal);
  }

  /** Sends reports in batches, and loses none. */
  reports(options: QueueOptions = {}): ReportQueue {
    return new ReportQueue(this.#connection, options);
  }

  async #snapshot({ bbox, device_id, user_id }: LiveFilters, signal?: AbortSignal): Promise<DeviceRecord[]> {
    const ids = device_id === undefined ? null : new Set(device_id);
    const records: DeviceRecord[] = [];
    const pages = this.pages(APP_CURRENT, signal === undefined ? {} : { signal });
    for await (const record of pages as AsyncGenerator<DeviceRecord>) {
      const isWanted =
        (ids === null || ids.has(record.device_id)) &&
        (user_id === undefined || record.user_id === user_id) &&
        (bbox === undefined || isWithin(record, bbox));
      if (isWanted) records.push(record);
    }
    return records;
  }
}

function asked<Query>(query: Query | undefined): { readonly query?: Query } {
  return query === undefined ? {} : { query };
}

function pathText(path: string, names: Readonly<Record<string, string>> = {}): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(names[name]!));
}

async function orNull<Answer>(answer: Promise<Answer>): Promise<Answer | null> {
  try {
    return await answer;
  } catch (error) {
    if ((error as { readonly status?: number }).status === 404) return null;
    throw error;
  }
}

/** A box whose west is greater than its east crosses ±180°. */
function isWithin(
  { latitude, longitude }: DeviceRecord,
  [west, south, east, north]: readonly [number, number, number, number],
): boolean {
  const isBetween =
    west <= east ? longitude >= west && longitude <= east : longitude >= west || longitude <= east;
  return isBetween && latitude >= south && latitude <= north;
}
