import type { Api } from "../api/api.ts";
import { type ApiError, retryingSentenceOf, sentenceOf } from "../api/api-error.ts";
import { type Bounds, boxOf } from "../geo/bounds.ts";
import { browserTimers, type Timers } from "../time/timers.ts";
import { FENCES_PATH, type Fence, type FencesAnswer } from "./fence.ts";
import { fenceFeature } from "./fence-shape.ts";

export interface FencesInViewParts {
  readonly api: Pick<Api, "get" | "retries">;
  readonly map: FencesMap;
  readonly changed: () => void;
  readonly timers?: Timers;
}

/** The used part of the map. */
export interface FencesMap {
  readonly camera: { readonly bounds: Bounds } | null;
  onCamera(listener: () => void): () => void;
  readonly fences: {
    change(added: readonly GeoJSON.Feature[], removedIds: readonly string[]): void;
  };
}

/** More would be too small to tell apart, and each takes time in every frame. */
export const DRAWN_MAX = 2000;
/** A page is parsed and handed to MapLibre within a frame. */
const PAGE_FENCES = 250;
/** How long the view must rest before its geofences are loaded. */
const SETTLE_MS = 250;

/** The geofences that the map shows: those of the visible box, which are loaded again after each move. */
export class FencesInView {
  readonly #parts: FencesInViewParts;
  #request = new AbortController();
  #stopSettling = () => {};
  #stopListening = () => {};
  readonly #byId = new Map<string, Fence>();
  /** The geofence whose shape is being edited. */
  #hiddenId: string | null = null;
  /** How many more the view has than are drawn. */
  undrawn = 0;
  /** Why those of the view can't be loaded. */
  fault: string | null = null;

  constructor(parts: FencesInViewParts) {
    this.#parts = parts;
  }

  open(): void {
    this.close();
    this.#stopListening = this.#parts.map.onCamera(() => this.#loadSoon());
    void this.reload();
  }

  /** Takes the geofences off the map. */
  close(): void {
    this.#request.abort();
    this.#stopSettling();
    this.#stopListening();
    this.#keep(new Set());
    this.undrawn = 0;
    this.fault = null;
  }

  /** Leaves one geofence out, since another tool draws it. */
  hide(id: string | null): void {
    const [before, fences] = [this.#hiddenId, this.#parts.map.fences];
    if (id === before) return;
    this.#hiddenId = id;
    const fence = before === null ? undefined : this.#byId.get(before);
    fences.change(fence === undefined ? [] : [fenceFeature(fence)], id === null ? [] : [id]);
  }

  /** Loads those of the visible box anew; the others stay until they are there. */
  async reload(): Promise<void> {
    const { api, map, changed } = this.#parts;
    const { camera } = map;
    this.#request.abort();
    this.#request = new AbortController();
    if (camera === null) return; // `onCamera` tells when there is a map.
    const { signal } = this.#request;
    const bbox = boxOf(camera.bounds);
    const ids = new Set<string>();
    const fail = (fault: string) => {
      this.fault = fault;
      changed();
    };
    const onPause = (error: ApiError) => fail(retryingSentenceOf(error));
    try {
      for (let offset = 0, hasMore = true; hasMore && offset < DRAWN_MAX; offset += PAGE_FENCES) {
        const ask = () => api.get<FencesAnswer>(FENCES_PATH, { bbox, limit: PAGE_FENCES, offset }, signal);
        const { geofences, pagination } = await api.retries.ask(ask, { signal, onPause });
        for (const { id } of geofences) ids.add(id);
        this.#add(geofences);
        if (this.#byId.size > DRAWN_MAX) this.#keep(ids);
        this.undrawn = Math.max(0, pagination.total_count - ids.size);
        hasMore = pagination.has_more;
      }
      this.#keep(ids);
      this.fault = null;
      changed();
    } catch (error) {
      if (!signal.aborted) fail(sentenceOf(error));
    }
  }

  /** Shows a geofence as it is now. */
  put(fence: Fence): void {
    this.#add([fence]);
  }

  remove(id: string): void {
    this.#byId.delete(id);
    this.#parts.map.fences.change([], [id]);
  }

  /** Draws those that are not drawn yet as they are. */
  #add(fences: readonly Fence[]): void {
    const added = fences.filter(({ id, updated }) => this.#byId.get(id)?.updated !== updated);
    for (const fence of added) this.#byId.set(fence.id, fence);
    const visible = added.filter(({ id }) => id !== this.#hiddenId);
    this.#parts.map.fences.change(
      visible.map((fence) => fenceFeature(fence)),
      [],
    );
  }

  /** Takes all others off the map. */
  #keep(ids: ReadonlySet<string>): void {
    const others = [...this.#byId.keys()].filter((id) => !ids.has(id));
    for (const id of others) this.#byId.delete(id);
    this.#parts.map.fences.change([], others);
  }

  #loadSoon(): void {
    const { timers = browserTimers } = this.#parts;
    this.#stopSettling();
    this.#stopSettling = timers.after(SETTLE_MS, () => void this.reload());
  }
}
