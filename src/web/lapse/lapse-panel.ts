import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { clockText, dayText } from "../time/format.ts";
import { dayAt, type LocalDay, parseDay } from "../time/local-day.ts";
import { LAPSE_RATES, type LapseClock } from "./lapse-clock.ts";
import { LAPSE_SPANS, type LapseSpan } from "./lapse-range.ts";

/* The controls of a time lapse. */

/** What the controls show and change. */
export interface LapseControls {
  readonly zone: string;
  readonly span: LapseSpan;
  readonly day: LocalDay;
  /** Null for a day that has not begun. */
  readonly clock: LapseClock | null;
  readonly hasDevices: boolean;
  readonly isLoading: boolean;
  readonly isIncomplete: boolean;
  readonly fault: string | null;
  choose(span: LapseSpan, day?: LocalDay): void;
  load(): void;
  toggle(): void;
  seek(ms: number): void;
  setRate(rate: number): void;
  changeRate(step: number): void;
  toggleScreen(): void;
  close(): void;
}

/** Arrow keys move the clock by this part of the range, Page Up and Page Down by ten times as much. */
const KEY_STEP = 1 / 200;

export function lapsePanel(lapse: LapseControls): TemplateResult {
  const { clock, hasDevices } = lapse;
  return html`<div class="lapse-top">
      <h2>Time lapse</h2>
      ${document.fullscreenEnabled ? html`<button @click=${() => lapse.toggleScreen()} title="F">Full screen</button>` : nothing}
      <button aria-label="Close" title="Esc" @click=${() => lapse.close()}>✕</button>
    </div>
    <div class="lapse-bar">
      ${clock !== null && hasDevices ? clockFace(clock, lapse.zone) : nothing}
      <p role="status" class="lapse-state">${stateOf(lapse)}
        ${lapse.fault !== null && !lapse.isLoading ? html`<button @click=${() => lapse.load()}>Try again</button>` : nothing}</p>
      <div class="lapse-row">
        <button class="primary lapse-play" autofocus title="Space" ?disabled=${!hasDevices} @click=${() => lapse.toggle()}>
          ${clock?.isPlaying ? "Pause" : "Play"}</button>
        ${slider(lapse)} ${rateSelect(lapse)} ${rangeSelect(lapse)}
      </div>
    </div>`;
}

function clockFace({ clockMs }: LapseClock, zone: string): TemplateResult {
  return html`<p class="lapse-clock"><b>${clockText(clockMs, zone)}</b> <span>${dayText(dayAt(clockMs, zone))}</span></p>`;
}

function slider(lapse: LapseControls): TemplateResult {
  const { clock, zone } = lapse;
  const { startMs, endMs } = clock?.range ?? { startMs: 0, endMs: 1 };
  const clockMs = clock?.clockMs ?? startMs;
  const text = clock === null ? "" : `${clockText(clockMs, zone)}, ${dayText(dayAt(clockMs, zone))}`;
  const seek = (event: Event) => lapse.seek((event.target as HTMLInputElement).valueAsNumber);
  return html`<input type="range" class="lapse-slider" aria-label="Time" aria-valuetext=${text} step="1"
    min=${startMs} max=${endMs} .value=${live(String(clockMs))} ?disabled=${!lapse.hasDevices} @input=${seek}>`;
}

function rateSelect(lapse: LapseControls): TemplateResult {
  const rate = lapse.clock?.rate;
  return html`<select aria-label="Speed" @change=${(event: Event) => lapse.setRate(Number((event.target as HTMLSelectElement).value))}>
    ${LAPSE_RATES.map((each) => html`<option value=${each} .selected=${live(each === rate)}>${each.toLocaleString("en")}×</option>`)}
  </select>`;
}

function rangeSelect(lapse: LapseControls): TemplateResult {
  const choose = (event: Event) =>
    lapse.choose(LAPSE_SPANS[(event.target as HTMLSelectElement).selectedIndex]!);
  const type = (event: Event) => {
    const day = parseDay((event.target as HTMLInputElement).value);
    if (day !== null) lapse.choose(lapse.span, day);
  };
  return html`<select aria-label="Range" @change=${choose}>
      ${LAPSE_SPANS.map((span) => html`<option .selected=${live(span === lapse.span)}>${span.label}</option>`)}
    </select>
    ${
      lapse.span.hours === null
        ? html`<input type="date" aria-label="Day" required max=${dayAt(Date.now(), lapse.zone)} .value=${lapse.day} @change=${type}>`
        : nothing
    }`;
}

function stateOf({ fault, clock, hasDevices, isLoading, isIncomplete }: LapseControls): string {
  if (fault !== null) return fault;
  if (clock === null) return "This day has not begun.";
  if (!hasDevices) return isLoading ? "Loading…" : "No device reported in this time.";
  if (clock.isWaiting) return "Loading…";
  return isIncomplete ? "Some days are missing: the archive can't read them." : "";
}

/** Handles a key of the time lapse, unless the focused element uses it. */
export function lapseKey(lapse: LapseControls, event: KeyboardEvent): void {
  const { clock } = lapse;
  const focused = event.target as HTMLElement;
  const isOfMap = focused.closest(".lapse-map") !== null;
  const isField = focused.tagName === "SELECT" || (focused as HTMLInputElement).type === "date";
  if (clock === null || isField || event.ctrlKey || event.metaKey || event.altKey) return;
  const step = (clock.range.endMs - clock.range.startMs) * KEY_STEP;
  const seekBy = (ms: number) => lapse.seek(clock.clockMs + ms);
  const actions: Readonly<Record<string, () => void>> = {
    ...(focused.tagName === "BUTTON" ? {} : { " ": () => lapse.toggle() }),
    f: () => lapse.toggleScreen(),
    Home: () => lapse.seek(clock.range.startMs),
    End: () => lapse.seek(clock.range.endMs),
    PageUp: () => seekBy(-10 * step),
    PageDown: () => seekBy(10 * step),
    ...(isOfMap
      ? {} // The map moves with its arrows.
      : {
          ArrowLeft: () => seekBy(-step),
          ArrowRight: () => seekBy(step),
          ArrowUp: () => lapse.changeRate(1),
          ArrowDown: () => lapse.changeRate(-1),
        }),
  };
  const action = actions[event.key];
  if (action === undefined) return;
  event.preventDefault();
  action();
}
