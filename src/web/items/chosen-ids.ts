import type { Choice } from "./choice-chips.ts";

/** The ids that a draft names, of devices or other items: adds and removes them. Subclasses find them. */
export abstract class ChosenIds implements Choice {
  search = "";

  abstract get ids(): readonly string[];
  abstract labelOf(id: string): string;
  abstract suggestions(): readonly string[] | null;
  abstract type(search: string): void;
  protected abstract set(ids: readonly string[]): void;

  add(id: string): void {
    this.search = "";
    if (!this.ids.includes(id)) this.set([...this.ids, id]);
  }

  remove(id: string): void {
    this.set(this.ids.filter((other) => other !== id));
  }
}
