import type { Query } from "../../../../src/web/api/api.ts";
import { Retries } from "../../../../src/web/api/retries.ts";
import type { Fence } from "../../../../src/web/fences/fence.ts";
import { VirtualTime } from "../../../support/stream/virtual-time.ts";

/* A server that answers when it is told to, and a map that remembers what it shows. */

export function fence(id: string, longitude = 0): Fence {
  return {
    ...{ type: "Feature", id, updated: 1, geometry: { type: "Point", coordinates: [longitude, 50] } },
    properties: { name: id, radius_meters: 100 },
  };
}

export interface Asked {
  readonly path: string;
  readonly query: Query;
  readonly init: RequestInit;
  answer(body: unknown): void;
  fail(error: Error): void;
}

export function fenceServer() {
  const time = new VirtualTime();
  const retries = new Retries(() => 1_000_000, time);
  const asked: Asked[] = [];
  const ask = (path: string, query: Query, init: RequestInit) => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    init.signal?.addEventListener("abort", () => reject(init.signal!.reason));
    asked.push({ path, query, init, answer: resolve, fail: reject });
    return promise;
  };
  const api = {
    retries,
    get: <Body>(path: string, query: Query = {}, signal?: AbortSignal) =>
      ask(path, query, signal === undefined ? {} : { signal }) as Promise<Body>,
    send: <Body>(method: string, path: string, body?: unknown) =>
      ask(path, {}, { method, body: JSON.stringify(body) }) as Promise<Body>,
    fetch: async (path: string, init: RequestInit = {}) =>
      new Response(JSON.stringify(await ask(path, {}, init))),
  };
  return { time, retries, asked, api };
}

/** The answer with these geofences of so many. */
export function page(geofences: readonly Fence[], total_count: number, has_more = false) {
  return { geofences, pagination: { total_count, has_more } };
}

/** The part of the map that shows geofences. */
export function fenceMap() {
  const drawn = {
    all: [] as readonly string[],
    /** How many were handed over. */
    added: 0,
    chosen: null as unknown,
    events: [] as readonly unknown[],
    flights: [] as unknown[],
    isIgnoring: false,
  };
  let moved = () => {};
  const map = {
    camera: { latitude: 50, longitude: 0, zoom: 9, bounds: { west: -1, south: 49, east: 1, north: 51 } },
    onCamera: (listener: () => void) => {
      moved = listener;
      return () => {
        moved = () => {};
      };
    },
    flyTo: (place: unknown) => drawn.flights.push(place),
    ignoreClicks: (isIgnoring: boolean) => {
      drawn.isIgnoring = isIgnoring;
    },
    fences: {
      change: (added: readonly GeoJSON.Feature[], removedIds: readonly string[]) => {
        const ids = added.map(({ properties }) => properties!.id as string);
        drawn.added += ids.length;
        drawn.all = [...new Set([...drawn.all, ...ids])].filter((id) => !removedIds.includes(id)).sort();
      },
      setChosen: (feature: GeoJSON.Feature | null) => {
        drawn.chosen = feature;
      },
      setEvents: (marks: readonly unknown[]) => {
        drawn.events = marks;
      },
      withMap: () => undefined,
    },
  };
  return { map, drawn, move: () => moved() };
}
