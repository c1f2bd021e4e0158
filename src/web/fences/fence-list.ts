import { itemPath } from "../api/api.ts";
import { sentenceOf } from "../api/api-error.ts";
import { type ListParts, PagedList } from "../items/paged-list.ts";
import { FENCES_PATH, type Fence } from "./fence.ts";

/** The geofences of the app. */
export class FenceList extends PagedList<Fence> {
  readonly #api: ListParts["api"];

  constructor(parts: ListParts) {
    super({ path: FENCES_PATH, member: "geofences", idOf: ({ id }) => id }, parts);
    this.#api = parts.api;
  }

  /** Finds a geofence by its id. If it was deleted or can't be loaded, returns null and the list says why. */
  async loadOne(id: string): Promise<Fence | null> {
    const listed = this.find(id);
    if (listed !== null) return listed;
    try {
      return (await this.#api.get<{ readonly geofence: Fence }>(itemPath(FENCES_PATH, id))).geofence;
    } catch (error) {
      this.fail(sentenceOf(error));
      return null;
    }
  }
}
