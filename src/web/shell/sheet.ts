import { html, type TemplateResult } from "lit-html";

/* On a phone a sheet over the map shows one panel at a time, at three heights. On wider screens it is invisible. */

export type SheetTab = "list" | "device" | "time";

const TABS: readonly { readonly tab: SheetTab; readonly name: string }[] = [
  { tab: "list", name: "Devices" },
  { tab: "device", name: "Device" },
  { tab: "time", name: "Day" },
];

const SHEET_HEIGHTS = ["low", "half", "full"] as const;

export type SheetHeight = (typeof SHEET_HEIGHTS)[number];

/** A shorter drag is a tap. */
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

  /** Shows a panel. Raises a low sheet, which would hide it. */
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

  /** Moves one height up or down. */
  move(steps: 1 | -1): void {
    const at = SHEET_HEIGHTS.indexOf(this.#height) + steps;
    this.#height = SHEET_HEIGHTS[Math.max(0, Math.min(at, SHEET_HEIGHTS.length - 1))]!;
    this.#changed();
  }

  beginDrag(y: number): void {
    this.#dragStartY = y;
  }

  /** Moves one height in the direction of the drag; a tap moves to the next height. */
  endDrag(y: number): void {
    if (this.#dragStartY === null) return;
    const moved = this.#dragStartY - y;
    this.#dragStartY = null;
    if (Math.abs(moved) < DRAG_PIXELS_MIN) this.next();
    else this.move(moved > 0 ? 1 : -1);
  }

  /** Moves to the next height; the first one follows the last. */
  next(): void {
    this.#height = SHEET_HEIGHTS[(SHEET_HEIGHTS.indexOf(this.#height) + 1) % SHEET_HEIGHTS.length]!;
    this.#changed();
  }
}

/** The handle that moves the sheet, and the tabs of its panels. */
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
