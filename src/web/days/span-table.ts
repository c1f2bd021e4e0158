import { html, type nothing, type TemplateResult } from "lit-html";
import { countText, distanceText, type Units } from "../geo/units.ts";
import { durationText } from "../time/format.ts";
import type { LocalDay } from "../time/local-day.ts";
import { listedSums, type PeriodFacts, periodText } from "./periods.ts";

/** What the table shows, and what a click on a day does. */
interface SpanTableParts {
  /** One for each day, or for each week. */
  readonly sums: readonly PeriodFacts[];
  readonly units: Units;
  readonly choose: (day: LocalDay) => void;
}

/** The days or weeks of a span. A day can be chosen. */
export function spanTable({ sums, units, choose }: SpanTableParts): TemplateResult | typeof nothing {
  const listed = listedSums(sums);
  if (listed.length === 0) return html`<p class="soft">No reports.</p>`;
  const isByDay = sums.every(({ start, end }) => start === end);
  const row = (facts: PeriodFacts) => {
    const text = periodText(isByDay ? "day" : "week", facts);
    return html`<tr>
      <th scope="row">${isByDay ? html`<button class="plain" @click=${() => choose(facts.start)}>${text}</button>` : text}</th>
      <td>${distanceText(facts.distanceMeters, units)}</td>
      <td>${durationText(facts.movingSeconds * 1000)}</td>
      <td>${countText(facts.reports)}</td>
    </tr>`;
  };
  return html`<table class="hours">
    <thead>
      <tr>
        <th scope="col">${isByDay ? "Day" : "Week"}</th><th scope="col">Distance</th>
        <th scope="col">Moving</th><th scope="col">Reports</th>
      </tr>
    </thead>
    <tbody>${listed.map(row)}</tbody>
  </table>`;
}
