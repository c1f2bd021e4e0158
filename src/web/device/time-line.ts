import { html, nothing, svg, type TemplateResult } from "lit-html";
import type { StopAnswer } from "../api/answers.ts";
import type { TimeRange } from "../time/local-day.ts";

/** A part of the day below the slider: 0 is its left end, `TIME_LINE_WIDTH` the right one. */
export interface TimeLinePart {
  readonly kind: "stop" | "gap";
  readonly x: number;
  readonly width: number;
}

export const TIME_LINE_WIDTH = 1000;
const HEIGHT = 8;
/** A shorter part would be invisible. */
const WIDTH_MIN = 2;

/** The stops and the gaps of a range, in the order in which they are drawn. */
export function timeLineParts(
  { startMs, endMs }: TimeRange,
  stops: readonly Pick<StopAnswer, "start" | "end">[],
  gaps: readonly TimeRange[],
): readonly TimeLinePart[] {
  const scale = TIME_LINE_WIDTH / Math.max(1, endMs - startMs);
  const part = (kind: TimeLinePart["kind"], fromMs: number, toMs: number): TimeLinePart | [] => {
    const [from, to] = [Math.max(fromMs, startMs), Math.min(toMs, endMs)];
    if (to <= from) return [];
    return { kind, x: (from - startMs) * scale, width: Math.max(WIDTH_MIN, (to - from) * scale) };
  };
  return [
    ...stops.flatMap(({ start, end }) => part("stop", start, end)),
    ...gaps.flatMap((gap) => part("gap", gap.startMs, gap.endMs)),
  ];
}

/** When the device moved, stood and was silent. The list of stops has the same as text. */
export function timeLine(parts: readonly TimeLinePart[]): TemplateResult {
  return html`<svg class="time-line" viewBox="0 0 ${TIME_LINE_WIDTH} ${HEIGHT}" preserveAspectRatio="none" aria-hidden="true">
    <rect class="time-line-move" y="3" width=${TIME_LINE_WIDTH} height="2"></rect>
    ${parts.map(({ kind, x, width }) =>
      kind === "stop"
        ? svg`<rect class="time-line-stop" x=${x} width=${width} height=${HEIGHT}></rect>`
        : svg`<rect class="time-line-gap" x=${x} width=${width} height=${HEIGHT}></rect>`,
    )}
  </svg>`;
}

/** What the colors mean, without what the day has none of. */
export function timeLineLegend(parts: readonly TimeLinePart[]): TemplateResult | typeof nothing {
  const kinds = new Set(parts.map(({ kind }) => kind));
  if (kinds.size === 0) return nothing;
  return html`<span class="time-line-legend soft">
    ${kinds.has("stop") ? html`<span class="is-stop">stop</span>` : nothing}
    ${kinds.has("gap") ? html`<span class="is-gap">no reports</span>` : nothing}
  </span>`;
}
