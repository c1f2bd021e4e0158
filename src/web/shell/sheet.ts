import { html, type TemplateResult } from "lit-html";

/*
 * On a phone the panels lie in a sheet over the map, one at a time, in three heights. On a wider screen they stand
 * beside the map, and of this nothing is seen.
 */

export type SheetTab = "list" | "device" | "time";

const TABS: readonly { readonly tab: SheetTab; readonly name: string }[] = [
  { tab: "list", name: "Devices" },
  { tab: "device", name: "Device" },
  { tab: "time", name: "Day" },
];

const SHEET_HEIGHTS = ["low", "half", "full"] as const;

export type SheetHeight = (typeof SHEET_HEIGHTS)[number];

/** A finger that moved less than this meant to tap. */
const DRAG_PIXELS_MIN = 12;

export class Sheet {
  readonly #changed: () => void;
  #tab: SheetTab = "list";
  #height: SheetHeight = "half";
  #dragStartY: number | null = null;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  get tab(): SheetTab {
    return this.#tab;
  }

  get height(): SheetHeight {
    return this.#height;
  }

  /** Shows a panel; a low sheet rises, or nobody would see it. */
  show(tab: SheetTab): void {
    this.#tab = tab;
    if (this.#height === "low") this.#height = "half";
    this.#changed();
  }

  /** Moves the sheet out of the way of the map. */
  lower(): void {
    this.#height = "low";
    this.#changed();
  }

  /** One height up or down; from the last one nowhere. */
  move(steps: 1 | -1): void {
    const at = SHEET_HEIGHTS.indexOf(this.#height) + steps;
    this.#height = SHEET_HEIGHTS[Math.max(0, Math.min(at, SHEET_HEIGHTS.length - 1))]!;
    this.#changed();
  }

  beginDrag(y: number): void {
    this.#dragStartY = y;
  }

  /** Up or down by one as it was dragged; a tap goes to the next height. */
  endDrag(y: number): void {
    if (this.#dragStartY === null) return;
    const moved = this.#dragStartY - y;
    this.#dragStartY = null;
    if (Math.abs(moved) < DRAG_PIXELS_MIN) this.next();
    else this.move(moved > 0 ? 1 : -1);
  }

  /** The next height, behind the last one the first. */
  next(): void {
    this.#height = SHEET_HEIGHTS[(SHEET_HEIGHTS.indexOf(this.#height) + 1) % SHEET_HEIGHTS.length]!;
    this.#changed();
  }
}

/** What the sheet is moved by, and what stands in it. */
export function sheetHandle(sheet: Sheet): TemplateResult {
  const take = (event: PointerEvent) => {
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    sheet.beginDrag(event.clientY);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter" || event.key === " ") sheet.next();
    else if (event.key === "ArrowUp") sheet.move(1);
    else if (event.key === "ArrowDown") sheet.move(-1);
    else return;
    event.preventDefault();
  };
  return html`<div class="sheet-handle">
    <button
      class="grip"
      aria-label=${`Panel height: ${sheet.height}`}
      @pointerdown=${take}
      @pointerup=${(event: PointerEvent) => sheet.endDrag(event.clientY)}
      @keydown=${press}
    ></button>
    <nav class="sheet-tabs" aria-label="Panels">
      ${TABS.map(
        ({ tab, name }) => html`<button
          aria-pressed=${sheet.tab === tab ? "true" : "false"}
          @click=${() => sheet.show(tab)}
        >
          ${name}
        </button>`,
      )}
    </nav>
  </div>`;
}
