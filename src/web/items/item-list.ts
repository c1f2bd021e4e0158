import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { repeat } from "lit-html/directives/repeat.js";
import { counted, countText } from "../geo/units.ts";
import { faultNote } from "../shell/fault-note.ts";
import { skeletonLines } from "../shell/skeleton.ts";
import { textIn } from "./form-fields.ts";
import type { PagedList } from "./paged-list.ts";

/* A list with its count, or the text that takes its place. */

interface ItemListParts<Item> {
  readonly list: PagedList<Item>;
  /** What one of them is called. */
  readonly noun: string;
  /** The text if there are no items at all. */
  readonly none: string;
  readonly row: (item: Item) => TemplateResult;
  /** Shown between the count and the items. */
  readonly notes?: unknown;
}

const SKELETON_LINES = 5;

/** The items of a list below their count, or why they are missing. */
export function itemList<Item>({
  list,
  noun,
  none,
  row,
  notes = nothing,
}: ItemListParts<Item>): TemplateResult {
  const { state, fault, items, total, hasMore } = list;
  return html`${
    state === "failed" && fault !== null
      ? faultNote(fault, { label: "Try again", act: () => void list.load() })
      : html`<p class="soft" role="status">${countOf(list, noun, none)}</p>`
  }
    ${notes}
    ${
      state === "loading" && total === null
        ? skeletonLines(SKELETON_LINES)
        : items.length === 0
          ? nothing
          : html`<ol class="item-list">${repeat(
              items,
              (item) => list.idOf(item),
              (item) => html`<li>${row(item)}</li>`,
            )}</ol>`
    }
    ${
      hasMore
        ? html`<button class="wide" ?disabled=${state === "loading"} @click=${() => void list.more()}>Load more</button>`
        : nothing
    }`;
}

/** Searches a list by names and tags. */
export function searchField(
  list: Pick<PagedList<unknown>, "query" | "search">,
  label: string,
): TemplateResult {
  return html`<input type="search" aria-label=${label} placeholder="Search by name or tag" autocomplete="off"
    .value=${live(list.query)} @input=${(event: Event) => list.search(textIn(event))}>`;
}

function countOf(
  { total, query, items }: Pick<PagedList<unknown>, "total" | "query" | "items">,
  noun: string,
  none: string,
): string {
  if (total === null) return `Loading ${noun}s…`;
  if (total === 0) return query.trim() === "" ? none : `No name and no tag contains “${query.trim()}”.`;
  const all = counted(total, noun);
  return items.length < total ? `${countText(items.length)} of ${all}` : all;
}
