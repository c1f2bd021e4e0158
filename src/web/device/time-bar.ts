import { html, nothing, type TemplateResult } from "lit-html";
import { guard } from "lit-html/directives/guard.js";
import { live } from "lit-html/directives/live.js";
import type { StopAnswer } from "../api/answers.ts";
import { RATES, type Rate } from "../history/playback.ts";
import type { Track } from "../history/track.ts";
import { type PlotPanelParts, plotPanel } from "../plots/plot-panel.ts";
import { clockText, durationText } from "../time/format.ts";
import { type LocalDay, parseDay, spanNamed } from "../time/local-day.ts";
import type { LateDays } from "./device-parts.ts";
import { timeLine, timeLineLegend, timeLineParts } from "./time-line.ts";

const DAY_ID = "day";

/** How far each key moves the slider. */
const KEY_STEPS_MS: Readonly<Record<string, number>> = {
  ArrowLeft: -10_000,
  ArrowDown: -10_000,
  ArrowRight: 10_000,
  ArrowUp: 10_000,
  PageDown: -600_000,
  PageUp: 600_000,
};

/** The controls of the day, and of the time within it. */
export function timeBar(parts: PlotPanelParts): TemplateResult {
  if (parts.chosen.id === null) return html`<p class="device-hint soft">Choose a device to see its day.</p>`;
  return html`<div class="time-row">${dayControls(parts)} ${playControls(parts)}</div>
    ${plotPanel(parts)}`;
}

function dayControls({ chosen, days }: PlotPanelParts): TemplateResult {
  const { day, today, span } = chosen;
  const type = (event: Event) => {
    const input = parseDay((event.target as HTMLInputElement).value);
    if (input !== null) chosen.look(input);
  };
  const leave = (event: Event) => {
    (event.target as HTMLInputElement).value = chosen.day;
  };
  const chooseSpan = (event: Event) =>
    chosen.look(day, spanNamed((event.target as HTMLSelectElement).value, chosen.spans));
  const what = span.days === 1 ? "day" : span.label;
  return html`<div class="time-day">
    <button aria-label="Previous ${what}" title="Previous ${what} ( [ )" @click=${() => chosen.move(-1)}>◀</button>
    <input type="date" aria-label=${span.days === 1 ? "Day" : "Last day"} required max=${today}
      id=${DAY_ID} .value=${live(inputDay(day))} @change=${type} @blur=${leave}>
    ${chosen.isView ? nothing : calendarButton(days)}
    <button aria-label="Next ${what}" title="Next ${what} ( ] )" ?disabled=${chosen.isToday} @click=${() => chosen.move(1)}>▶</button>
    <select aria-label="Number of days" @change=${chooseSpan}>
      ${chosen.spans.map(({ name, label }) => html`<option value=${name} .selected=${live(name === span.name)}>${label}</option>`)}
    </select>
  </div>`;
}

function calendarButton(days: LateDays): TemplateResult {
  const open = () => days.use((loaded) => loaded.openCalendar());
  return html`<button class="calendar-button" aria-label="Calendar" title="Calendar ( C )" @click=${open}>
    <svg viewBox="0 0 20 20" aria-hidden="true"><path d="M3 5.5h14v11H3zM3 9h14M7 3v4M13 3v4"></path></svg>
  </button>`;
}

/** The value of the day's input: while the user types, it stays as typed. */
function inputDay(day: LocalDay): string {
  const focused = document.activeElement;
  return focused instanceof HTMLInputElement && focused.id === DAY_ID ? focused.value : day;
}

function playControls({ chosen, player }: PlotPanelParts): TemplateResult | typeof nothing {
  const { playback } = player;
  const track = chosen.history?.track;
  const range = track?.range ?? null;
  const clockMs = playback?.clockMs ?? null;
  if (chosen.history === null && chosen.fault === null && chosen.span.days === 1)
    return html`<div class="time-play late" aria-hidden="true"><span class="bone"></span></div>`;
  if (playback === null || track === undefined || range === null || clockMs === null) return nothing;
  const chooseRate = (event: Event) =>
    player.setRate(Number((event.target as HTMLSelectElement).value) as Rate);
  const press = (event: KeyboardEvent) => {
    const step = KEY_STEPS_MS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    player.seek((playback.clockMs ?? clockMs) + step); // The clock may have moved since the last draw.
  };
  const text = clockText(clockMs, chosen.zone);
  const notes = noteAt(clockMs, track, chosen.history?.stops?.stops ?? []);
  const stops = chosen.history?.stops?.stops ?? [];
  const parts = timeLineParts(range, stops, track.silences());
  return html`<div class="time-play">
    <button class="primary play" title="Space" @click=${() => player.toggle()}>${playback.isPlaying ? "Pause" : "Play"}</button>
    <select aria-label="Playback speed" @change=${chooseRate}>
      ${RATES.map((rate) => html`<option value=${rate} .selected=${live(rate === playback.rate)}>${rate}×</option>`)}
    </select>
    <div class="slider-box"><input type="range" class="slider" aria-label="Time" aria-valuetext=${[text, ...notes].join(", ")} min=${range.startMs} max=${range.endMs} step="1"
      .value=${live(String(clockMs))} @keydown=${press}
      @input=${(event: Event) => player.seek((event.target as HTMLInputElement).valueAsNumber)}>
      ${guard([stops, range.startMs, range.endMs], () => [timeLine(parts), timeLineLegend(parts)])}</div>
    <output class="clock">${text}${notes.map((note) => html`<small class="soft">${note}</small>`)}</output>
  </div>`;
}

/** `silent for 20 min`, `stopped for 12 min`; nothing while the device moves. */
function noteAt(ms: number, track: Track, stops: readonly StopAnswer[]): readonly string[] {
  const silence = track.silenceAt(ms);
  if (silence !== null) return [`silent for ${durationText(silence.endMs - silence.startMs)}`];
  const stop = stops.find(({ start, end }) => ms >= start && ms <= end);
  return stop === undefined ? [] : [`stopped for ${durationText(stop.end - stop.start)}`];
}
