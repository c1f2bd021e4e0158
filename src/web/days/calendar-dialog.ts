import { html, nothing, type TemplateResult } from "lit-html";
import { guard } from "lit-html/directives/guard.js";
import { counted, distanceText, type Units } from "../geo/units.ts";
import { dialog } from "../shell/dialog.ts";
import { faultNote } from "../shell/fault-note.ts";
import { dayText, durationText } from "../time/format.ts";
import type { LocalDay } from "../time/local-day.ts";
import { type Month, monthsOf, SHADES, shadeOf, weekdayNames, weeksOf, yearOf } from "./calendar-grid.ts";
import { type DayCalendar, type ShadedBy, shadedValue, sortedValues } from "./day-calendar.ts";
import type { DayFacts, LoadedDays } from "./day-facts.ts";
import { monthText } from "./periods.ts";

/* The dialog of the calendar: a year of months, as grids that keys move through. */

export interface CalendarParts {
  readonly calendar: DayCalendar;
  readonly loaded: LoadedDays;
  /** The day that the page shows. */
  readonly day: LocalDay;
  readonly today: LocalDay;
  readonly zone: string;
  readonly units: Units;
  readonly choose: (day: LocalDay) => void;
  readonly retry: () => void;
}

const SHADINGS: readonly { readonly shadedBy: ShadedBy; readonly name: string }[] = [
  { shadedBy: "distance", name: "Distance" },
  { shadedBy: "reports", name: "Reports" },
];

/** A year of months. Each day with reports is shaded, and every day up to today can be chosen. */
export function calendarDialog(parts: CalendarParts): TemplateResult | typeof nothing {
  const { calendar, loaded } = parts;
  const { focused } = calendar;
  if (focused === null) return nothing;
  const year = yearOf(focused);
  const isBlank = loaded.isLoading && loaded.days.length === 0;
  const body = html`<div class="calendar-top">${controls(year, parts)}
    <p class="calendar-facts">${factsText(calendar.described ?? focused, parts)}</p></div>
    ${loaded.fault === null ? nothing : faultNote(loaded.fault, { label: "Try again", act: parts.retry })}
    <div class=${isBlank ? "calendar is-blank" : "calendar"} aria-busy=${loaded.isLoading ? "true" : "false"} @keydown=${(event: KeyboardEvent) => press(event, calendar)}
      @pointerover=${(event: Event) => calendar.point(dayOfTarget(event))} @pointerleave=${() => calendar.point(null)}>
      ${guard([year, focused, loaded.days, calendar.shadedBy, parts.day, parts.today], () => months(year, focused, parts))}
    </div>
    <p class="soft calendar-note">Days of ${parts.zone}.
      <span class="key-note">Page Up and Page Down move by a month, with Shift by a year.</span></p>`;
  return dialog({ name: "calendar", title: "Choose a day", body, closed: () => calendar.close() });
}

function controls(year: number, { calendar }: CalendarParts): TemplateResult {
  return html`<div class="calendar-controls">
    <div class="pager">
      <button aria-label="Previous year" @click=${() => calendar.moveYear(-1)}>◀</button>
      <strong aria-live="polite">${year}</strong>
      <button aria-label="Next year" ?disabled=${!calendar.mayMoveYear(1)} @click=${() => calendar.moveYear(1)}>▶</button>
    </div>
    <div class="tabs" role="group" aria-label="Shade days by">
      ${SHADINGS.map(
        ({ shadedBy, name }) => html`<button aria-pressed=${shadedBy === calendar.shadedBy ? "true" : "false"}
          @click=${() => calendar.shadeBy(shadedBy)}>${name}</button>`,
      )}
    </div>
    <div class="calendar-legend soft">no reports <span class="swatch"></span>
      less ${Array.from({ length: SHADES }, (_, index) => html`<span class="swatch" data-shade=${index + 1}></span>`)} more</div>
  </div>`;
}

function months(year: number, focused: LocalDay, parts: CalendarParts): readonly TemplateResult[] {
  const { calendar, loaded } = parts;
  const facts = new Map(loaded.days.map((one) => [one.day, one]));
  const sorted = sortedValues(loaded.days, calendar.shadedBy);
  const cell = (day: LocalDay) => dayCell(day, facts.get(day), sorted, focused, parts);
  return monthsOf(year).map((month) => monthGrid(month, cell, calendar));
}

function monthGrid(
  month: Month,
  cell: (day: LocalDay) => TemplateResult,
  { first }: DayCalendar,
): TemplateResult {
  const short = weekdayNames(first, "short");
  const long = weekdayNames(first, "long");
  return html`<table class="month" role="grid" aria-label=${monthText(month)}>
    <caption aria-hidden="true">${monthText(month)}</caption>
    <thead><tr>${short.map((name, index) => html`<th scope="col" abbr=${long[index]!}>${name.slice(0, 2)}</th>`)}</tr></thead>
    <tbody>
      ${weeksOf(month, first).map(
        (week) => html`<tr>${week.map((day) => (day === null ? html`<td></td>` : cell(day)))}</tr>`,
      )}
    </tbody>
  </table>`;
}

function dayCell(
  day: LocalDay,
  facts: DayFacts | undefined,
  sorted: readonly number[],
  focused: LocalDay,
  { calendar, day: shown, today, units, choose }: CalendarParts,
): TemplateResult {
  const shade = facts === undefined ? 0 : shadeOf(shadedValue(facts, calendar.shadedBy), sorted);
  return html`<td aria-selected=${day === shown ? "true" : "false"}>
    <button class="date" data-day=${day} data-shade=${shade} aria-label="${dayText(day)}: ${describe(facts, units)}"
      aria-current=${day === today ? "date" : nothing} tabindex=${day === focused ? 0 : -1}
      ?autofocus=${day === focused} ?disabled=${day > today} @click=${() => choose(day)}>${Number(day.slice(8))}</button>
  </td>`;
}

function factsText(day: LocalDay, { loaded, units, today }: CalendarParts): string {
  const facts = loaded.days.find((one) => one.day === day);
  if (facts === undefined && loaded.isLoading) return `${dayText(day)}: loading…`;
  return `${dayText(day)}${day === today ? " (today)" : ""}: ${describe(facts, units)}`;
}

/** `81.9 km, 6 stops, 3 h 19 min moving, 1,552 reports`. */
function describe(facts: DayFacts | undefined, units: Units): string {
  if (facts === undefined) return "no reports";
  const { distanceMeters, stops, movingSeconds, reports } = facts;
  return [
    distanceText(distanceMeters, units),
    counted(stops, "stop"),
    `${durationText(movingSeconds * 1000)} moving`,
    counted(reports, "report"),
  ].join(", ");
}

function dayOfTarget({ target }: Event): LocalDay | null {
  const button = (target as Element).closest<HTMLElement>("[data-day]");
  return (button?.dataset.day as LocalDay | undefined) ?? null;
}

/** The page is drawn in the next frame, before the callback here: it was requested first. */
function press(event: KeyboardEvent, calendar: DayCalendar): void {
  if (event.ctrlKey || event.altKey || event.metaKey || !calendar.press(event)) return;
  event.preventDefault();
  const grid = event.currentTarget as HTMLElement;
  requestAnimationFrame(() => grid.querySelector<HTMLElement>(`[data-day="${calendar.focused}"]`)?.focus());
}
