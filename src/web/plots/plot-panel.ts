import { html, nothing, type TemplateResult } from "lit-html";
import type { ChosenDevice } from "../device/chosen-device.ts";
import type { LateDays } from "../device/device-parts.ts";
import type { Moment } from "../history/moment.ts";
import type { Player } from "../history/player.ts";
import { clockText, instantText } from "../time/format.ts";
import { DAY, dayAt } from "../time/local-day.ts";
import { greatest, valueAt } from "./plot-series.ts";
import type { Plot, PlotKind, Plots } from "./plots.ts";

export interface PlotPanelParts {
  readonly chosen: ChosenDevice;
  readonly player: Player;
  readonly plots: Plots;
  readonly days: LateDays;
  readonly moment: Moment;
  readonly theme: { readonly name: string };
}

/** Speed, altitude or battery over the day, and its value at the clock or the pointer. */
export function plotPanel(parts: PlotPanelParts): TemplateResult | typeof nothing {
  const { chosen, plots } = parts;
  if (chosen.isView) return nothing;
  return html`<div class="plot-area">${content(plots, parts)}</div>`;
}

/** The panel's height is reserved even without a plot: a change of the map's size would stop its movement. */
function content(
  { all, shown, isLoading, fault }: Plots,
  parts: PlotPanelParts,
): TemplateResult | typeof nothing {
  if (fault !== null) return html`<p class="plot-none fault" role="alert">${fault}</p>`;
  if (shown === null && (isLoading || parts.chosen.history === null)) return nothing;
  if (shown === null && parts.chosen.span.days > 1) return distances(parts);
  if (shown === null)
    return html`<p class="plot-none soft">There is no speed, altitude or battery to plot.</p>`;
  return html`<div class="plot-head">
      <div class="tabs" role="group" aria-label="Plot">${all.map((plot) => tab(plot, parts.plots))}</div>
      ${isLoading ? nothing : caption(shown, parts)}
    </div>
    ${figure(shown, parts)}`;
}

/** Several days have no speeds between positions, since the track is simplified. */
function distances({ days, theme }: PlotPanelParts): TemplateResult | typeof nothing {
  if (days.fault !== null) return html`<p class="plot-none fault" role="alert">${days.fault}</p>`;
  if (days.loaded !== null) return days.loaded.spanChart(theme.name);
  void days.use();
  return nothing;
}

function tab({ kind: { field, name } }: Plot, plots: Plots): TemplateResult {
  const isShown = plots.shown?.kind.field === field;
  return html`<button aria-pressed=${isShown ? "true" : "false"} @click=${() => plots.choose(field)}>${name}</button>`;
}

function caption(
  { kind, series, isFromPositions }: Plot,
  { chosen, player, moment }: PlotPanelParts,
): TemplateResult {
  const timeText = (ms: number) => (chosen.span.days === 1 ? clockText : instantText)(ms, chosen.zone);
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
  { chosen, player, moment, theme }: PlotPanelParts,
): TemplateResult {
  const { zone } = chosen;
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
    .onPoint=${(ms: number | null) => moment.point(ms)}
    .plotted=${{ series, unit: kind.unit, isStepped: isFromPositions, zone, theme: theme.name }}
    .clockMs=${player.playback?.clockMs ?? null}
    .pointedMs=${moment.pointedMs}
  ></time-plot>`;
}

function valueText(value: number, { unit }: PlotKind): string {
  return `${Math.round(value)} ${unit}`;
}
