import { ALERTS_PATH } from "../alerts/alert.ts";
import { type Api, itemPath } from "../api/api.ts";
import { ApiError } from "../api/api-error.ts";
import { FENCES_PATH, type Fence, type FenceEvent, nameOf } from "./fence.ts";

interface NamedAnswer {
  readonly geofence?: Fence;
  readonly alert?: { readonly name?: string };
}

/** The names of geofences and alerts. */
export class WatchNames {
  readonly #api: Pick<Api, "get">;
  /** By the id of a geofence or an alert. */
  readonly #names = new Map<string, string>();

  constructor(api: Pick<Api, "get">) {
    this.#api = api;
  }

  /** What the geofence or the alert of an event is called. */
  nameOf({ fence_id, alert_id }: FenceEvent): string {
    return this.#names.get(fence_id ?? alert_id ?? "") ?? (alert_id === undefined ? "Geofence" : "Alert");
  }

  /** Loads the names that are not known yet. */
  async learn(events: readonly FenceEvent[], signal: AbortSignal): Promise<void> {
    const paths = new Map<string, readonly string[]>();
    for (const { fence_id, alert_id } of events) {
      if (fence_id !== undefined) paths.set(fence_id, [itemPath(FENCES_PATH, fence_id)]);
      if (alert_id !== undefined) paths.set(alert_id, [itemPath(ALERTS_PATH, alert_id)]);
    }
    await this.#learn(paths, signal);
  }

  /** The name by an id of either; null if it is not known. */
  nameOfId(id: string): string | null {
    return this.#names.get(id) ?? null;
  }

  note(id: string, name: string): void {
    this.#names.set(id, name);
  }

  /** Loads the names that are not known yet, by ids of either. */
  learnIds(ids: readonly string[], signal: AbortSignal): Promise<void> {
    const pathsOf = (id: string) => [FENCES_PATH, ALERTS_PATH].map((path) => itemPath(path, id));
    return this.#learn(new Map(ids.map((id) => [id, pathsOf(id)])), signal);
  }

  async #learn(paths: ReadonlyMap<string, readonly string[]>, signal: AbortSignal): Promise<void> {
    const unknown = [...paths].filter(([id]) => !this.#names.has(id));
    await Promise.all(
      unknown.map(async ([id, its]) => this.#names.set(id, await this.#readName(its, signal))),
    );
  }

  /** The name at the first path that has one. One that was deleted has no name any more. */
  async #readName([path, ...rest]: readonly string[], signal: AbortSignal): Promise<string> {
    if (path === undefined) return "Deleted";
    try {
      const answer = await this.#api.get<NamedAnswer>(path, {}, signal);
      if (answer.geofence !== undefined) return nameOf(answer.geofence);
      return answer.alert?.name ?? "Alert";
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return this.#readName(rest, signal);
      throw error;
    }
  }
}
