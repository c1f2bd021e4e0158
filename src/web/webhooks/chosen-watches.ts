import { ALERTS_PATH, type Alert } from "../alerts/alert.ts";
import { sentenceOf } from "../api/api-error.ts";
import { FENCES_PATH, type Fence, nameOf } from "../fences/fence.ts";
import { WatchNames } from "../fences/watch-names.ts";
import type { Choice } from "../items/choice-chips.ts";
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

/** Finds, adds and removes geofences and alerts. */
export class ChosenWatches implements Choice {
  readonly #editor: EditedWatches;
  readonly #parts: ListParts;
  readonly #names: WatchNames;
  readonly #fences: PagedList<Fence>;
  readonly #alerts: PagedList<Alert>;
  search = "";
  #fault: string | null = null;

  constructor(editor: EditedWatches, parts: ListParts) {
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
    return this.#fault ?? this.#fences.fault ?? this.#alerts.fault;
  }

  /** Its name, or its id until that is known. */
  labelOf(id: string): string {
    return this.#names.nameOfId(id) ?? id;
  }

  suggestions(): readonly string[] | null {
    const lists = [this.#fences, this.#alerts];
    if (lists.some((list) => list.query !== this.search || !list.isUpToDate)) return null;
    for (const fence of this.#fences.items) this.#names.note(fence.id, nameOf(fence));
    for (const { id, name } of this.#alerts.items) this.#names.note(id, name ?? "Alert");
    const ids = lists.flatMap(({ items }) => items.map(({ id }) => id));
    return ids.filter((id) => !this.ids.includes(id)).slice(0, SUGGESTIONS_MAX);
  }

  type(search: string): void {
    this.search = search;
    for (const list of [this.#fences, this.#alerts]) list.search(search);
  }

  add(id: string): void {
    this.search = "";
    if (!this.ids.includes(id)) this.#set([...this.ids, id]);
  }

  remove(id: string): void {
    this.#set(this.ids.filter((other) => other !== id));
  }

  /** Looks up the names of some. */
  async learn(ids: readonly string[], signal: AbortSignal): Promise<void> {
    this.#fault = null;
    try {
      await this.#names.learnIds(ids.slice(0, NAMES_MAX), signal);
    } catch (error) {
      if (signal.aborted) return;
      this.#fault = sentenceOf(error);
    }
    this.#parts.changed();
  }

  close(): void {
    this.search = "";
    for (const list of [this.#fences, this.#alerts]) list.close();
  }

  #set(watches: readonly string[]): void {
    this.#editor.set({ watches }, "watches");
  }
}
