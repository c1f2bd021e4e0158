import { ALERTS_PATH, type Alert } from "../alerts/alert.ts";
import { sentenceOf } from "../api/api-error.ts";
import { FENCES_PATH, type Fence, nameOf } from "../fences/fence.ts";
import { WatchNames } from "../fences/watch-names.ts";
import { ChosenIds } from "../items/chosen-ids.ts";
import { type ListParts, PagedList } from "../items/paged-list.ts";

/* The geofences and alerts that the draft of a webhook names. */

/** The form of the draft. */
interface EditedWatches {
  /** Null while nothing is edited. */
  readonly draft: { readonly watches: readonly string[] } | null;
  set(changes: { readonly watches: readonly string[] }, member: string): void;
}

/** Names that are looked up at once; instead of others the page shows ids. */
const NAMES_MAX = 50;
const SUGGESTIONS_MAX = 8;

/** Finds geofences and alerts by their names. */
export class ChosenWatches extends ChosenIds {
  readonly #editor: EditedWatches;
  readonly #parts: ListParts;
  readonly #names: WatchNames;
  readonly #fences: PagedList<Fence>;
  readonly #alerts: PagedList<Alert>;
  #learning = new AbortController();
  #fault: string | null = null;

  constructor(editor: EditedWatches, parts: ListParts) {
    super();
    this.#editor = editor;
    this.#parts = parts;
    this.#names = new WatchNames(parts.api);
    this.#fences = new PagedList({ path: FENCES_PATH, member: "geofences", idOf: ({ id }) => id }, parts);
    this.#alerts = new PagedList({ path: ALERTS_PATH, member: "alerts", idOf: ({ id }) => id }, parts);
  }

  get ids(): readonly string[] {
    return this.#editor.draft?.watches ?? [];
  }

  /** Why names or what is searched for are missing. */
  get fault(): string | null {
    return this.#fault ?? (this.search === "" ? null : (this.#fences.fault ?? this.#alerts.fault));
  }

  /** Its name, or its id until that is known. */
  labelOf(id: string): string {
    return this.#names.nameOfId(id) ?? this.#nameInLists(id) ?? id;
  }

  suggestions(): readonly string[] | null {
    const lists = [this.#fences, this.#alerts];
    if (!lists.every((list) => list.isUpToDate)) return null;
    const ids = lists.flatMap(({ items }) => items.map(({ id }) => id));
    return ids.filter((id) => !this.ids.includes(id)).slice(0, SUGGESTIONS_MAX);
  }

  type(search: string): void {
    this.search = search;
    for (const list of [this.#fences, this.#alerts]) list.search(search);
  }

  override add(id: string): void {
    this.#names.note(id, this.labelOf(id)); // The lists go on to other searches.
    super.add(id);
  }

  /** Looks up the names of some. */
  async learn(ids: readonly string[]): Promise<void> {
    this.forget();
    const { signal } = this.#learning;
    try {
      await this.#names.learnIds(ids.slice(0, NAMES_MAX), signal);
    } catch (error) {
      if (signal.aborted) return;
      this.#fault = sentenceOf(error);
    }
    this.#parts.changed();
  }

  /** Ends the looking up of names. */
  forget(): void {
    this.#learning.abort();
    this.#learning = new AbortController();
    this.#fault = null;
  }

  /** Ends the search. */
  close(): void {
    this.search = "";
    for (const list of [this.#fences, this.#alerts]) list.close();
  }

  protected set(watches: readonly string[]): void {
    this.#editor.set({ watches }, "watches");
  }

  #nameInLists(id: string): string | null {
    const fence = this.#fences.find(id);
    if (fence !== null) return nameOf(fence);
    const alert = this.#alerts.find(id);
    return alert === null ? null : (alert.name ?? "Alert");
  }
}
