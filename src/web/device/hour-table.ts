import { html, type TemplateResult } from "lit-html";
import { distanceText, type Units } from "../geo/units.ts";
import type { DayHour } from "../history/day-hours.ts";
import { minuteText } from "../time/format.ts";

interface HourTableParts {
  readonly hours: readonly DayHour[];
  readonly zone: string;
  readonly units: Units;
  readonly onChoose: (ms: number) => void;
}

/** The day in words, for whoever sees no map. */
export function hourTable({ hours, zone, units, onChoose }: HourTableParts): TemplateResult {
  return html`<table class="hours">
    <thead>
      <tr><th scope="col">From</th><th scope="col">Positions</th><th scope="col">Way</th></tr>
    </thead>
    <tbody>
      ${hours.map(
        ({ startMs, positions, meters }) => html`<tr>
          <th scope="row">${
            positions === 0
              ? minuteText(startMs, zone)
              : html`<button class="plain" @click=${() => onChoose(startMs)}>${minuteText(startMs, zone)}</button>`
          }</th>
          <td>${positions === 0 ? "–" : positions}</td>
          <td>${positions === 0 ? "–" : distanceText(meters, units)}</td>
        </tr>`,
      )}
    </tbody>
  </table>`;
}
