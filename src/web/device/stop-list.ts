import { html, nothing, type TemplateResult } from "lit-html";
import type { StopAnswer } from "../api/answers.ts";
import type { Units } from "../geo/units.ts";
import { dayText, durationText, minuteText } from "../time/format.ts";
import { dayAt } from "../time/local-day.ts";
import { nearText } from "./near-text.ts";

/** A list that somebody still reads. */
const STOPS_MAX = 200;

interface StopListParts {
  readonly stops: readonly StopAnswer[];
  readonly zone: string;
  readonly units: Units;
  /** Whether they are of more than one day. */
  readonly areOfDays: boolean;
  readonly onChoose: (stop: StopAnswer) => void;
}

/** Where the device stayed for a while. */
export function stopList(parts: StopListParts): TemplateResult | typeof nothing {
  const { stops, onChoose } = parts;
  if (stops.length === 0) return nothing;
  const shown = stops.slice(0, STOPS_MAX);
  return html`<h3>Stops</h3>
    <ol class="stops">
      ${shown.map(
        (stop, index) => html`<li>
          <button class="stop" @click=${() => onChoose(stop)}>
            <span class="stop-number" aria-hidden="true">${index + 1}</span>
            ${stopText(stop, parts)}
          </button>
        </li>`,
      )}
    </ol>
    ${
      shown.length < stops.length
        ? html`<p class="soft">The first ${STOPS_MAX} of ${stops.length} are listed. Choose fewer days for the others.</p>`
        : nothing
    }`;
}

function stopText(
  { start, end, place }: StopAnswer,
  { zone, units, areOfDays }: StopListParts,
): TemplateResult {
  const day = areOfDays ? `${dayText(dayAt(start, zone))}, ` : "";
  return html`<span class="stop-time">${day}${minuteText(start, zone)}</span>
    <span class="stop-duration">${durationText(end - start)}</span>
    <span class="stop-place soft">${place ? nearText(place, units) : "Far from any town"}</span>`;
}
