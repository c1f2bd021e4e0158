import { html, nothing, type TemplateResult } from "lit-html";
import type { NearPlace } from "../api/answers.ts";
import { distanceText, speedFactor, speedText, speedUnit, type Units } from "../geo/units.ts";
import type { Chapter, Stay, Trip } from "../history/story.ts";
import { dayText, durationText, minuteRangeText } from "../time/format.ts";
import { dayAt } from "../time/local-day.ts";
import { nearText } from "./day-lists.ts";

/* The stays and trips of a day, or of several, as a list. */

interface StoryListParts {
  readonly story: readonly Chapter[];
  /** The chapter at the clock, by its index; null if there is none. */
  readonly current: number | null;
  readonly zone: string;
  readonly units: Units;
  /** Whether the story has several days, whose line is simplified and can't be played. */
  readonly hasDays: boolean;
  readonly onStay: (stay: Stay) => void;
  readonly onTrip: (trip: Trip) => void;
  /** Makes a geofence around a stay; null if the user may not. */
  readonly onFence: ((stay: Stay) => void) | null;
}

/** The list ends after this many stays and trips. */
const CHAPTERS_MAX = 400;

/** The day as a list of stays and trips; several days have their dates between them. */
export function storyList(parts: StoryListParts): TemplateResult | typeof nothing {
  const { story, current } = parts;
  if (story.length === 0) return nothing;
  const listed = story.slice(0, CHAPTERS_MAX);
  return html`<h3>Stops and trips</h3>
    <ol class="stops">
      ${listed.map(
        (
          chapter,
          index,
        ) => html`${dateOf(listed, index, parts)}<li aria-current=${index === current ? "time" : nothing}>
          ${chapter.kind === "stay" ? stayButtons(chapter, parts) : tripButton(chapter, parts)}
        </li>`,
      )}
    </ol>
    ${
      listed.length < story.length
        ? html`<p class="soft">The first ${CHAPTERS_MAX} of ${story.length} are listed.</p>`
        : nothing
    }`;
}

/** The date before the first chapter of a day. */
function dateOf(
  story: readonly Chapter[],
  index: number,
  { hasDays, zone }: StoryListParts,
): TemplateResult | typeof nothing {
  const day = dayAt(story[index]!.startMs, zone);
  const isFirst = index === 0 || dayAt(story[index - 1]!.startMs, zone) !== day;
  return hasDays && isFirst ? html`<li class="story-day">${dayText(day)}</li>` : nothing;
}

function stayButtons(stay: Stay, { zone, units, onStay, onFence }: StoryListParts): TemplateResult {
  const { place } = stay.stop;
  return html`${
    onFence === null
      ? nothing
      : html`<button class="fence-here" title="Make a geofence here" @click=${() => onFence(stay)}>
          Fence here<span class="unseen">: stop ${stay.number}</span></button>`
  }<button class="stop" @click=${() => onStay(stay)}>
    <span class="stop-number" aria-hidden="true">${stay.number}</span>
    <span class="stop-time">${minuteRangeText(stay.startMs, stay.endMs, zone)}</span>
    <span class="stop-duration">${durationText(stay.endMs - stay.startMs)}</span>
    <span class="stop-place soft">${place ? nearText(place, units) : "Far from any town"}</span>
  </button>`;
}

function tripButton(trip: Trip, { zone, units, hasDays, onTrip }: StoryListParts): TemplateResult {
  const way = wayText(trip);
  return html`<button class="stop trip" title=${hasDays ? "Show this trip" : "Play this trip"} @click=${() => onTrip(trip)}>
    <span class="trip-mark" aria-hidden="true">${hasDays ? "→" : "▶"}</span>
    <span class="stop-time">${minuteRangeText(trip.startMs, trip.endMs, zone)}</span>
    <span class="stop-duration">${durationText(trip.endMs - trip.startMs)}</span>
    <span class="stop-place soft">${way === null ? nothing : html`${way}<br>`}${hasDays ? roughTripText(trip, units) : tripText(trip, units)}</span>
  </button>`;
}

/** `Chelsea to Boston`; null if neither place is known. */
export function wayText({
  from,
  to,
}: {
  readonly from: NearPlace | null;
  readonly to: NearPlace | null;
}): string | null {
  if (from === null && to === null) return null;
  if (from === null) return `To ${to!.name}`;
  if (to === null) return `From ${from.name}`;
  return from.name === to.name ? `Around ${from.name}` : `${from.name} to ${to.name}`;
}

/** `12.4 km, average 38 km/h, top 61 km/h, silent for 12 min`. */
export function tripText({ meters, movingMs, topSpeed, startMs, endMs }: Trip, units: Units): string {
  const texts = [distanceText(meters, units)];
  const average = averageText(meters, movingMs, topSpeed, units);
  if (average !== null) texts.push(`average ${average}`);
  if (topSpeed !== null) texts.push(`top ${Math.round(topSpeed)} ${speedUnit(units)}`);
  const silentMs = endMs - startMs - movingMs;
  if (silentMs >= SILENCE_MS_MIN) texts.push(`silent for ${durationText(silentMs)}`);
  return texts.join(", ");
}

/** Null without a time in motion, and in a replay, which is faster than the recorded speeds. */
function averageText(meters: number, movingMs: number, topSpeed: number | null, units: Units): string | null {
  if (movingMs === 0) return null;
  const metersPerSecond = (meters / movingMs) * 1000;
  const isReplayed = topSpeed !== null && metersPerSecond * speedFactor(units) > topSpeed;
  return isReplayed ? null : speedText(metersPerSecond, units);
}

/** `About 12.4 km, top 61 km/h`: a simplified line is shorter than the route, so an average would be too low. */
export function roughTripText({ meters, topSpeed }: Trip, units: Units): string {
  const distance = `About ${distanceText(meters, units)}`;
  return topSpeed === null ? distance : `${distance}, top ${Math.round(topSpeed)} ${speedUnit(units)}`;
}

/** Shorter silences do not break the line. */
const SILENCE_MS_MIN = 600_000;
