import { html, nothing, type TemplateResult } from "lit-html";
import type { ChosenDevice } from "../device/chosen-device.ts";
import type { LateCorrections, LateDays } from "../device/device-parts.ts";
import type { Moment } from "../history/moment.ts";
import type { Player } from "../history/player.ts";
import { faultNote } from "../shell/fault-note.ts";
import { skeletonPlot } from "../shell/skeleton.ts";
import { positionTime } from "../time/format.ts";
import { DAY, dayAt, type TimeRange } from "../time/local-day.ts";
import { greatest, valueAt } from "./plot-series.ts";
import type { Plot, PlotKind, Plots } from "./plots.ts";

export interface PlotPanelParts {
  readonly chosen: ChosenDevice;
  readonly player: Player;
  readonly plots: Plots;
  readonly days: LateDays;
  readonly corrections: LateCorrections;
  readonly moment: Moment;
  readonly theme: { readonly name: string };
}

/** Speed, altitude or battery over the day, and its value at the clock or the pointer. */
export function plotPanel(parts: PlotPanelParts): TemplateResult | typeof nothing {
  const { chosen, plots } = parts;
  const { history, fault } = chosen;
  // A failed day is reported by the device's panel, and an empty one has nothing to plot.
  const isEmpty = history === null ? fault !== null : history.track.count === 0;
  if (chosen.isView || isEmpty) return nothing;
  const isLoading = history === null || (plots.shown === null && plots.isLoading);
  return isLoading && plots.fault === null ? area(skeletonPlot(), true) : content(plots, parts);
}

/** Has the same height with a skeleton as with a plot, so that the map keeps its size when the plot is loaded. */
function area(content: TemplateResult | typeof nothing, isLoading = false): TemplateResult {
  return html`<div class="plot-area" aria-busy=${isLoading}>${content}</div>`;
}

function content({ all, shown, isLoading, fault }: Plots, parts: PlotPanelParts): TemplateResult {
  if (fault !== null)
    return faultNote(fault, { label: "Try again", act: () => parts.plots.retry() }, "plot-none");
  if (shown === null && parts.chosen.span.days > 1) return distances(parts);
  if (shown === null)
    return html`<p class="plot-none soft">There is no speed, altitude or battery to plot.</p>
      ${parts.corrections.loaded?.bar(parts.player.playback?.clockMs ?? null)}`;
  const hasSelection = parts.corrections.loaded?.selection != null; // It takes the place of the caption.
  return area(html`<div class="plot-head">
      <div class="tabs" role="group" aria-label="Plot">${all.map((plot) => tab(plot, parts.plots))}</div>
      ${isLoading || hasSelection ? nothing : caption(shown, parts)}
      ${parts.corrections.loaded?.bar(parts.player.playback?.clockMs ?? null)}
    </div>
    ${figure(shown, parts)}`);
}

/** Several days have no speeds between positions, since the track is simplified. */
function distances({ days, theme, corrections }: PlotPanelParts): TemplateResult {
  if (days.fault !== null)
    return faultNote(days.fault, { label: "Try again", act: () => days.retry() }, "plot-none");
  if (days.loaded === null) void days.use();
  return html`${area(days.loaded?.spanChart(theme.name) ?? skeletonPlot(), days.loaded === null)}
    ${corrections.loaded?.bar(null)}`;
}

function tab({ kind: { field, name } }: Plot, plots: Plots): TemplateResult {
  const isShown = plots.shown?.kind.field === field;
  return html`<button aria-pressed=${isShown ? "true" : "false"} @click=${() => plots.choose(field)}>${name}</button>`;
}

function caption(
  { kind, series, isFromPositions }: Plot,
  { chosen, player, moment }: PlotPanelParts,
): TemplateResult {
  const timeText = (ms: number) => positionTime(ms, chosen.zone, chosen.span);
  const ms = moment.pointedMs ?? player.playback?.clockMs ?? null;
  const value = ms === null ? null : valueAt(series, ms);
  const top = greatest(series);
  return html`<p class="plot-text">
    ${isFromPositions ? html`<span class="soft">Computed from positions</span>` : nothing}
    ${top === null ? nothing : html`<span class="soft">Max ${valueText(top.value, kind)} at ${timeText(top.ms)}</span>`}
    ${value === null || ms === null ? nothing : html`<span>${valueText(value, kind)} at ${timeText(ms)}</span>`}
  </p>`;
}

function figure(
  { kind, series, isFromPositions }: Plot,
  { chosen, player, moment, theme, corrections }: PlotPanelParts,
): TemplateResult {
  const { zone } = chosen;
  const { loaded } = corrections;
  const isSelectable = loaded !== null && loaded.history !== null && loaded.mayEdit;
  const seek = (ms: number) => {
    if (player.playback === null) chosen.look(dayAt(ms, zone), DAY);
    else player.seek(ms);
  };
  const top = greatest(series);
  const label = `${kind.name} over time${top === null ? "" : `, max ${valueText(top.value, kind)}`}`;
  return html`<time-plot
    class="plot"
    role="img"
    aria-label=${label}
    .onSeek=${seek}
    .onSelect=${(range: TimeRange) => loaded?.selectWithin(range)}
    .selected=${loaded?.selectedRange ?? null}
    .onPoint=${(ms: number | null) => moment.point(ms)}
    .plotted=${{ series, unit: kind.unit, isStepped: isFromPositions, isSelectable, zone, theme: theme.name }}
    .clockMs=${player.playback?.clockMs ?? null}
    .pointedMs=${moment.pointedMs}
  ></time-plot>`;
}

function valueText(value: number, { unit }: PlotKind): string {
  return `${Math.round(value)} ${unit}`;
}
