import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { countText, type Units } from "../geo/units.ts";
import { faultNote } from "../shell/fault-note.ts";
import { icon } from "../shell/icons.ts";
import { skeletonRows } from "../shell/skeleton.ts";
import { deviceBadge } from "./device-badge.ts";
import type { ListFilter, ListOrder } from "./device-list.ts";
import { activityText, ageText, freshnessOf } from "./freshness.ts";
import type { ListView } from "./list-view.ts";
import type { ListLoading } from "./live-badge.ts";
import { listPixels } from "./row-window.ts";

const FILTERS: Readonly<Record<ListFilter, string>> = {
  all: "All",
  moving: "Moving",
  stopped: "Stopped",
  silent: "Silent",
};

const ORDERS: Readonly<Record<ListOrder, string>> = {
  newest: "Newest first",
  name: "By name",
  fastest: "Fastest first",
};

/** They fill the list of a usual window. */
const SKELETON_ROWS = 14;

/** The text does not reveal whether the devices reported before the link's start. */
const NOTHING_SHARED = "There is no position to show yet. The first one appears as soon as it is reported.";

export interface ListPanelParts {
  readonly view: ListView;
  /** The device whose details are shown. */
  readonly chosenId: string | null;
  /** Null once the first positions are loaded. */
  readonly loading: ListLoading | null;
  /** Whether the user has a share link. */
  readonly isView: boolean;
  readonly units: Units;
}

/** The search field, the filter, the order, and the matching devices. */
export function listPanel(parts: ListPanelParts): TemplateResult {
  const { view, loading, isView } = parts;
  const { list, table } = view;
  if (table.size === 0 && loading === null)
    return html`<p class="list-none soft">${isView ? NOTHING_SHARED : "No device has reported yet."}</p>`;
  return html`<div class="list-tools">
      ${searchField(view)}
      <div class="list-selects">
        ${select("Show", FILTERS, list.filter, (filter) => list.showOnly(filter))}
        ${select("Order", ORDERS, list.orderBy, (order) => list.sortBy(order))}
      </div>
      <p class="list-count soft" aria-live=${list.query === "" ? "off" : "polite"}>
        ${loading !== null ? loadingText(loading) : `${countText(list.count)} of ${countText(table.size)}`}
      </p>
    </div>
    ${view.rowCount === 0 ? none(parts) : rows(parts)}`;
}

/** Empty once the list itself says what failed. */
function loadingText({ fault }: ListLoading): string {
  return fault === null ? "Loading devices…" : "";
}

function searchField(view: ListView): TemplateResult {
  const { list, table } = view;
  const press = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") view.enterRows();
    else if (event.key === "Enter") view.chooseAt(0);
    else if (event.key === "Escape" && list.query !== "") view.search("");
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const label = table.size < 2 ? "Search devices" : `Search ${countText(table.size)} devices`;
  return html`<div class="list-search">
    ${icon("search")}
    <input
      id="search"
      type="search"
      aria-label=${label}
      aria-keyshortcuts="/"
      placeholder=${label}
      autocomplete="off"
      spellcheck="false"
      .value=${live(list.query)}
      @focus=${() => list.prepareSearch()}
      @input=${(event: Event) => view.search((event.currentTarget as HTMLInputElement).value)}
      @keydown=${press}
    />
    <kbd aria-hidden="true">/</kbd>
  </div>`;
}

function select<Value extends string>(
  label: string,
  names: Readonly<Record<Value, string>>,
  chosen: Value,
  choose: (value: Value) => void,
): TemplateResult {
  const change = (event: Event) => choose((event.currentTarget as HTMLSelectElement).value as Value);
  const entries = Object.entries(names) as [Value, string][];
  return html`<select aria-label=${label} @change=${change}>
    ${entries.map(([value, name]) => html`<option value=${value} .selected=${live(value === chosen)}>${name}</option>`)}
  </select>`;
}

function none({ view, loading }: ListPanelParts): TemplateResult {
  const { list } = view;
  if (loading !== null)
    return loading.fault === null
      ? skeletonRows(SKELETON_ROWS)
      : faultNote(loading.fault, loading.remedy, "list-none");
  const showAll = () => {
    list.showOnly("all");
    view.search("");
  };
  const reason =
    list.query === "" ? `No device is ${list.filter} now.` : `No device matches “${list.query}”.`;
  return html`<div class="list-none soft"><p>${reason}</p><button @click=${showAll}>Show all</button></div>`;
}

function rows(parts: ListPanelParts): TemplateResult {
  const { view, chosenId } = parts;
  const { list } = view;
  const { first, count, top } = view.window;
  const active = view.activeIndex;
  const isDrawn = active >= first && active < first + count;
  const press = (event: KeyboardEvent) => {
    list.hold("focus");
    if (event.key === "Escape" && chosenId === null) view.focusSearch();
    else if (event.ctrlKey || event.metaKey || event.altKey || !view.press(event.key, chosenId)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  const leave = ({ pointerType }: PointerEvent) => {
    if (pointerType !== "mouse") view.touched();
    list.release("pointer");
  };
  // Only a user of the keyboard needs the rows to stay: after a click the user looks elsewhere.
  const holdByFocus = ({ currentTarget }: Event) => {
    if ((currentTarget as HTMLElement).matches(":focus-visible")) list.hold("focus");
  };
  const click = (event: Event) => {
    // By name, since the order may have changed since the last draw.
    const option = (event.target as Element).closest<HTMLElement>("[role=option]");
    if (option !== null) view.choose(option.dataset.id!);
  };
  const nowMs = Date.now();
  // Lengths are set by property: the content security policy forbids style attributes.
  return html`<div
    id="device-rows"
    role="listbox"
    tabindex="0"
    aria-label="Devices"
    aria-activedescendant=${isDrawn ? `device-row-${active}` : nothing}
    @scroll=${(event: Event) => view.scrolled(event)}
    @keydown=${press}
    @click=${click}
    @pointerenter=${() => list.hold("pointer")}
    @pointerleave=${leave}
    @focusin=${holdByFocus}
    @focusout=${() => list.release("focus")}
  >
    <div role="presentation" .style=${`height: ${listPixels(view.rowCount)}px; padding-top: ${top}px`}>
      ${Array.from({ length: count }, (_, index) => row(parts, first + index, first + index === active, nowMs))}
    </div>
  </div>`;
}

function row(
  { view, chosenId, units }: ListPanelParts,
  index: number,
  isActive: boolean,
  nowMs: number,
): TemplateResult {
  const { table, list } = view;
  const at = list.rows[index]!;
  const [id, label] = [table.ids[at]!, table.labels[at]!];
  // The search also finds ids.
  const isIdShown = label !== id && list.query !== "";
  const timestampMs = table.timestampMs[at]!;
  return html`<div
    class=${isActive ? "device-row active" : "device-row"}
    role="option"
    id=${`device-row-${index}`}
    data-id=${id}
    aria-setsize=${view.rowCount}
    aria-posinset=${index + 1}
    aria-selected=${id === chosenId ? "true" : "false"}
  >
    <span class="mark" data-freshness=${freshnessOf(timestampMs, nowMs)}></span>
    <span class="name" title=${label === id ? id : `${label} (${id})`}>${deviceBadge(table.lookOf(at))}${label}</span>
    <span class="activity soft">${activityText(table, at, nowMs, units)}${isIdShown ? html` · ${id}` : nothing}</span>
    <span class="age soft">${ageText(timestampMs, nowMs)}</span>
  </div>`;
}
