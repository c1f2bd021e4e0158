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

  /** The geofence of an id; null if it is no more, or can't be loaded, which the list then says. */
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
