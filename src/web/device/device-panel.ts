import { html, nothing, type TemplateResult } from "lit-html";
import { guard } from "lit-html/directives/guard.js";
import type { StopsAnswer } from "../api/answers.ts";
import { deviceBadge } from "../devices/device-badge.ts";
import type { FenceEvent } from "../fences/fence.ts";
import type { Bounds } from "../geo/bounds.ts";
import { counted, distanceText, type Units } from "../geo/units.ts";
import type { DayLine } from "../history/day-line.ts";
import type { History } from "../history/history.ts";
import type { Player } from "../history/player.ts";
import { chapterAt, type Stay, storyOf } from "../history/story.ts";
import type { Track } from "../history/track.ts";
import type { Plots } from "../plots/plots.ts";
import { faultNote } from "../shell/fault-note.ts";
import { icon } from "../shell/icons.ts";
import { skeletonFacts, skeletonLines } from "../shell/skeleton.ts";
import { dayText, durationText, localeOfTimes } from "../time/format.ts";
import { DAY, dayAt, RECENT } from "../time/local-day.ts";
import type { ChosenDevice } from "./chosen-device.ts";
import type { Coordinates } from "./coordinates.ts";
import { type DayEvents, eventList } from "./day-events.ts";
import { dayHours, hourTable } from "./day-lists.ts";
import { deviceFacts } from "./device-facts.ts";
import type { DeviceParts, LateCorrections, LateDays, LateEditor } from "./device-parts.ts";
import { type Downloads, downloadButtons } from "./downloads.ts";
import { storyList } from "./story-list.ts";
import type { TodayDistance } from "./today-distance.ts";

/** What the panel draws, and what its buttons do. */
export interface DevicePanelParts {
  readonly chosen: ChosenDevice;
  readonly player: Player;
  readonly plots: Plots;
  readonly downloads: Downloads;
  readonly today: TodayDistance;
  readonly coordinates: Coordinates;
  readonly dayLine: DayLine;
  readonly events: DayEvents;
  readonly days: LateDays;
  readonly editor: LateEditor;
  readonly table: DeviceParts["table"];
  readonly mayEdit: () => boolean;
  readonly corrections: LateCorrections;
  /** Begins a geofence around a stay; null if the user may make none. */
  readonly onFence: ((stay: Stay, track: Track) => void) | null;
  readonly units: Units;
  readonly map: {
    readonly isFollowing: boolean;
    follow(isFollowing: boolean): void;
    fit(bounds: Bounds): void;
    flyTo(place: { readonly latitude: number; readonly longitude: number }): void;
  };
}

/** Lines of the skeleton, as many as most days need. */
const DAY_LINES = 8;

/** The chosen device: its newest values, and its day. */
export function devicePanel(parts: DevicePanelParts): TemplateResult | typeof nothing {
  const { chosen, map, dayLine, days, editor } = parts;
  const { id, current, history, fault, isLoading } = chosen;
  if (id === null) return html`<p class="device-hint soft">Choose a device in the list or on the map.</p>`;
  return html`${head(id, parts)}
    <div class="device-actions">
      <button class="tool" aria-pressed=${map.isFollowing ? "true" : "false"} @click=${() => map.follow(!map.isFollowing)}>
        ${icon("follow")}<span>Follow</span></button>
      <button class="tool" ?disabled=${!history?.track.count} @click=${() => dayLine.fit()}>
        ${icon("fit")}<span>Fit track</span></button>
      ${
        chosen.isView
          ? nothing
          : html`<button class="tool" @click=${() => days.use((loaded) => loaded.openStatistics())}>
        ${icon("chart")}<span>Statistics</span></button>`
      }
    </div>
    ${[days, editor].map((late) => (late.fault === null ? nothing : faultNote(late.fault, { label: "Try again", act: () => late.retry() })))}
    ${current === null ? (fault === null ? skeletonFacts() : nothing) : deviceFacts(current, parts)}
    ${fault === null ? nothing : faultNote(fault, { label: "Try again", act: () => chosen.reload() })}
    <div class="day" aria-busy=${isLoading ? "true" : "false"}>
      ${history === null ? (fault === null ? skeletonLines(DAY_LINES) : nothing) : dayPart(history, parts)}
    </div>`;
}

/** What the device is called. The id stays in sight below a name. */
function head(id: string, { chosen, editor, table, mayEdit }: DevicePanelParts): TemplateResult {
  const row = table.rowOf(id);
  const label = table.labelOf(id);
  return html`<div class="device-head">
      <h2>${deviceBadge(row === undefined ? null : table.lookOf(row))}${label}</h2>
      ${
        mayEdit()
          ? html`<button class="quiet" aria-label="Edit device" title="Name, color, icon, tags"
              @click=${() => editor.use((loaded) => void loaded.open(id))}>${icon("edit")}</button>`
          : nothing
      }
      <button class="quiet" aria-label="Close ${label}" @click=${() => chosen.choose(null)}>✕</button>
    </div>
    ${label === id ? nothing : html`<p class="device-id soft">${id}</p>`}`;
}

function dayPart(history: History, parts: DevicePanelParts): TemplateResult {
  const { chosen, player, downloads, units } = parts;
  const { deviceId, day, zone, span, track, stops } = history;
  const isTrail = span === RECENT;
  const isDay = span.days === 1 && !isTrail;
  const corrections = isTrail || chosen.isView ? null : parts.corrections.loaded;
  const look = [zone, units, localeOfTimes()];
  const title = isTrail ? span.label : isDay ? dayText(day) : `${span.label} to ${dayText(day)}`;
  if (track.count === 0)
    return html`<h3>${title}</h3>${nothingHere(history, chosen)}
      ${corrections?.list()}`;
  const hours = () =>
    hourTable({ hours: dayHours(track, day, zone), zone, units, onChoose: (ms) => player.seek(ms) });
  return html`<h3>${title}</h3>
    <p>${summary(history, units)}</p>
    ${history.isIncomplete ? html`<p class="soft">Some reports of this time are lost.</p>` : nothing}
    ${corrections?.suggestions()}
    ${stops === null ? nothing : story(history, stops, parts)}
    ${eventList({ events: parts.events, history, onEvent: (event) => showEvent(event, parts) })}
    ${isDay ? hourByHour(guard([track, track.count, ...look], hours)) : nothing}
    ${isDay || isTrail || chosen.isView ? nothing : spanTable(parts.days)}
    ${corrections?.list()}
    ${isTrail || chosen.isView ? nothing : html`<h3>Download</h3>${downloadButtons(downloads, { deviceId, day, days: span.days, zone })}`}`;
}

/** The list of stays and trips. A chosen one is shown on the map, and a trip of a single day is played. */
function story(history: History, stops: StopsAnswer, parts: DevicePanelParts): unknown {
  const { player, plots, map, units, chosen, onFence } = parts;
  const { track, ends, zone, span } = history;
  const speed = plots.lineSpeed?.series ?? null;
  const clockMs = chosen.isLoading ? null : (player.playback?.clockMs ?? null);
  const chapters = storyOf(track, stops, ends, speed);
  const current = clockMs === null ? null : chapterAt(chapters, clockMs);
  return guard(
    [track, track.count, stops, speed, zone, units, localeOfTimes(), current, onFence === null],
    () =>
      storyList({
        ...{ story: chapters, current, zone, units, hasDays: span.days > 1 },
        onStay: ({ stop, startMs }) => {
          player.seek(startMs);
          map.flyTo(stop);
        },
        onFence: onFence === null ? null : (stay) => onFence(stay, track),
        onTrip: (trip) => {
          map.fit(trip.bounds);
          player.playRange(trip);
        },
      }),
  );
}

/** Shows where the device was at an event, and what else the day has at that time. */
function showEvent(event: FenceEvent, { events, player, map }: DevicePanelParts): void {
  player.seek(event.timestamp);
  const place = events.placeOf(event);
  if (place !== null) map.flyTo(place);
}

function hourByHour(table: unknown): TemplateResult {
  return html`<details>
    <summary>Hour by hour</summary>
    ${table}
  </details>`;
}

/** The days of a longer span as a table, which is loaded when it is opened: the track is simplified. */
function spanTable(days: LateDays): TemplateResult {
  const toggle = (event: Event) => {
    const { open } = event.currentTarget as HTMLDetailsElement;
    if (open !== (days.loaded?.isTableOpen ?? false)) void days.use((loaded) => loaded.openTable(open));
  };
  const { loaded } = days;
  return html`<details ?open=${loaded?.isTableOpen ?? false} @toggle=${toggle}>
    <summary>Day by day</summary>
    ${loaded?.isTableOpen ? loaded.spanTable() : nothing}
  </details>`;
}

/** `81.9 km, 6 stops, 3 h 19 min moving, 1,552 reports`. */
function summary({ reports, stops }: History, units: Units): string {
  const count = counted(reports, "report");
  if (stops === null) return count;
  return [
    distanceText(stops.distance_meters, units),
    counted(stops.stops.length, "stop"),
    `${durationText(stops.moving_seconds * 1000)} moving`,
    count,
  ].join(", ");
}

function nothingHere({ span }: History, chosen: ChosenDevice): TemplateResult {
  const last = chosen.current === null ? null : dayAt(chosen.current.timestamp, chosen.zone);
  const when = span === RECENT ? "in this time" : span.days === 1 ? "on this day" : "on these days";
  const other = last === null || last === chosen.day ? null : last;
  return html`<p>No reports ${when}.${other === null ? nothing : ` The last one was on ${dayText(other)}.`}</p>
    ${other === null ? nothing : html`<button class="next-step" @click=${() => chosen.look(other, DAY)}>Show that day</button>`}`;
}
