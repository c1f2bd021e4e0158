import { ALERTS_PATH } from "../alerts/alert.ts";
import { type Api, itemPath } from "../api/api.ts";
import { ApiError } from "../api/api-error.ts";
import { FENCES_PATH, type Fence, type FenceEvent, nameOf } from "./fence.ts";

interface NamedAnswer {
  readonly geofence?: Fence;
  readonly alert?: { readonly name?: string };
}

/** The names of the geofences and alerts that have made events. */
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
    const paths = new Map<string, string>();
    for (const { fence_id, alert_id } of events) {
      if (fence_id !== undefined) paths.set(fence_id, itemPath(FENCES_PATH, fence_id));
      if (alert_id !== undefined) paths.set(alert_id, itemPath(ALERTS_PATH, alert_id));
    }
    const unknown = [...paths].filter(([id]) => !this.#names.has(id));
    await Promise.all(
      unknown.map(async ([id, path]) => this.#names.set(id, await this.#readName(path, signal))),
    );
  }

  /** One that was deleted has no name any more. */
  async #readName(path: string, signal: AbortSignal): Promise<string> {
    try {
      const answer = await this.#api.get<NamedAnswer>(path, {}, signal);
      if (answer.geofence !== undefined) return nameOf(answer.geofence);
      return answer.alert?.name ?? "Alert";
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return "Deleted";
      throw error;
    }
  }
}
