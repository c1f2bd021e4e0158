import { REMARKS, SKIP_REASONS, type SkipReason } from "../../formats/read/file-point.ts";
import type { FileGroup } from "../../import/look.ts";
import type { Extent } from "../../import/tally/extent.ts";
import { PLACE_MARK, type SkipCount } from "../../import/tally/skip-counts.ts";
import type { WrongSpeeds } from "../../import/tally/speed-check.ts";
import type { TallySoFar } from "../../import/tally/tally.ts";
import { printableLine } from "../../lib/text/printable.ts";
import type { Retention } from "../../model/time/retention.ts";
import { countOf, formatCount } from "../screen/layout.ts";

const INDENT = "               ";
const DEVICES_SHOWN_MAX = 5;

/** The result of an import: a line of counts for each group of files, and below it the skipped points with reasons. */
export function importSummary(groups: readonly FileGroup[], tallies: readonly TallySoFar[]): string {
  const cells = groups.map((group, index) => [nameOf(group), group.title, ...countCells(tallies[index]!)]);
  return textOf(groups, tallies, cells);
}

/** The result of a dry run: like `importSummary`, with the bounds of each group. */
export function surveySummary(groups: readonly FileGroup[], tallies: readonly TallySoFar[]): string {
  const cells = groups.map((group, index) => {
    const { points, skips } = tallies[index]!;
    return [
      nameOf(group),
      group.title,
      `${formatCount(thingsOf(tallies[index]!))} read`,
      `${formatCount(points)} usable`,
      `${formatCount(totalOf(skips))} skipped`,
    ];
  });
  const text = textOf(groups, tallies, cells);
  const boxes = groups.flatMap((group, index) => {
    const extent = tallies[index]!.extent;
    return extent === null ? [] : [`${nameOf(group)}: ${boxText(extent)}\n`, `${devicesText(extent)}\n`];
  });
  return `${text}${boxes.map((line) => printableLine(line.trimEnd())).join("\n")}${boxes.length > 0 ? "\n" : ""}`;
}

export function speedsText({ device, actualUnit, assumedUnit, speedUnit, ratio }: WrongSpeeds): string {
  return (
    `${device}: its speeds look like ${actualUnit}, but are read as ${assumedUnit}: they are ${ratio.toFixed(2)} times those ` +
    `between its positions (median). Import with --speed-unit ${speedUnit}.`
  );
}

function textOf(
  groups: readonly FileGroup[],
  tallies: readonly TallySoFar[],
  cells: readonly (readonly string[])[],
): string {
  const widths = cells[0]?.map((_, c) => Math.max(...cells.map((row) => row[c]!.length))) ?? [];
  let text = "";
  for (const [index] of groups.entries()) {
    const row = cells[index]!.map((cell, c) => (c < 2 ? cell.padEnd(widths[c]!) : cell.padStart(widths[c]!)));
    text += `${printableLine(row.join("   "))}\n`;
    for (const line of detailLines(tallies[index]!)) text += `${INDENT}${printableLine(line)}\n`;
  }
  return text;
}

function countCells(tally: TallySoFar): string[] {
  const { alreadyThere, created, skips } = tally;
  return [
    `${formatCount(thingsOf(tally))} read`,
    `${formatCount(created)} new`,
    `${formatCount(alreadyThere)} already there`,
    `${formatCount(totalOf(skips))} skipped`,
  ];
}

function detailLines(tally: TallySoFar): string[] {
  const { skips, remarks, leftOut, unreadable, faults, extent, sameTime, resent } = tally;
  const lines: string[] = [];
  if (skips.length > 0) lines.push(`skipped: ${skips.map(skipText).join(" · ")}`);
  for (const skip of skips) lines.push(`  ${skipText(skip)}: ${placesText(skip.places)}`);
  if (sameTime > 0) lines.push(`${formatCount(sameTime)} at the time of an existing record`);
  if (resent > 0)
    lines.push(
      `${formatCount(resent)} sent again after a lost answer, so some of "already there" may be new`,
    );
  for (const [remark, count] of remarks) lines.push(`${formatCount(count)} ${REMARKS[remark]}`);
  for (const [name, count] of leftOut)
    lines.push(`${formatCount(count)} without ${name}, which was out of bounds`);
  for (const [name, count] of unreadable)
    lines.push(`${formatCount(count)} without ${name}, which can't be read`);
  if (faults > 0) lines.push(`${countOf(faults, "file")} could not be read completely`);
  if (extent !== null) lines.push(`${timesText(extent)}      ${deviceCountText(extent)}`);
  return lines;
}

/** Names each file once: `Records.json @ byte 23, byte 161,141`. */
function placesText(places: readonly string[]): string {
  const fileOf = (place: string) => place.slice(0, place.lastIndexOf(PLACE_MARK));
  return places
    .map((place, index) => {
      const file = fileOf(place);
      const isSame = index > 0 && file === fileOf(places[index - 1]!);
      return isSame ? place.slice(file.length + PLACE_MARK.length) : place;
    })
    .join(", ");
}

function skipText({ reason, message, count }: SkipCount): string {
  return `${formatCount(count)} ${message ?? SKIP_REASONS[reason]}`;
}

function nameOf({ label, files }: FileGroup): string {
  return files === 1 ? label : countOf(files, "file");
}

export function thingsOf({ points, skips }: TallySoFar): number {
  return points + totalOf(skips);
}

export function totalOf(skips: readonly SkipCount[]): number {
  return skips.reduce((sum, { count }) => sum + count, 0);
}

/** `2013-03-02 … 2024-06-17` */
function timesText({ firstMs, lastMs }: Extent): string {
  return `${dayText(firstMs)} … ${dayText(lastMs)}`;
}

export function dayText(timestampMs: number): string {
  return new Date(timestampMs).toISOString().slice(0, "yyyy-mm-dd".length);
}

function deviceCountText({ devices, hasMoreDevices }: Extent): string {
  return hasMoreDevices
    ? `more than ${countOf(devices.length, "device")}`
    : countOf(devices.length, "device");
}

function devicesText(extent: Extent): string {
  const { devices } = extent;
  const list = devices.slice(0, DEVICES_SHOWN_MAX).join(", ");
  return `${INDENT}${deviceCountText(extent)}: ${list}${devices.length > DEVICES_SHOWN_MAX ? ", …" : ""}`;
}

function boxText({ firstMs, lastMs, south, west, north, east }: Extent): string {
  const times = `${new Date(firstMs).toISOString()} … ${new Date(lastMs).toISOString()}`;
  return `${times}, latitude ${south} … ${north}, longitude ${west} … ${east}`;
}

/** Reasons that follow from the options, and points that no device recorded. */
const EXPECTED_REASONS: readonly SkipReason[] = [
  "out_of_range",
  "too_old",
  "derived",
  "waypoint",
  "route_point",
  "no_location",
];

/** A sentence for each file whose points were all skipped for one reason. The exit code is 2, as for a missing zone. */
export function uselessTexts(groups: readonly FileGroup[], tallies: readonly TallySoFar[]): string[] {
  return groups.flatMap(({ label, files }, group) => {
    const { points, skips } = tallies[group]!;
    const mistakes = skips.filter(({ reason }) => !EXPECTED_REASONS.includes(reason));
    const [first] = mistakes;
    if (points > 0 || first === undefined || mistakes.some(({ reason }) => reason !== first.reason))
      return [];
    const what =
      mistakes.length === 1 ? skipText(first) : `${formatCount(totalOf(mistakes))} that can't be used`;
    const of = files === 1 ? `"${label}"` : `"${label}" and ${formatCount(files - 1)} more`;
    return `Nothing was imported from ${of}: ${what}, first ${first.places[0] ?? ""}.`;
  });
}

/** Why an import stops that has points older than the retention, and what to do. */
export function retentionStopText(
  {
    points,
    pointsBeforeEdge,
    edgeMs,
  }: { readonly points: number; readonly pointsBeforeEdge: number; readonly edgeMs: number },
  retention: Pick<Retention, "text">,
): string {
  return (
    `${formatCount(pointsBeforeEdge)} of ${formatCount(points)} points are from before ${dayText(edgeMs)}, ` +
    `older than the retention of ${lengthText(retention.text)}. ` +
    "Run again with --skip-old to skip them, or raise the retention first. " +
    "(settings set retention forever, or long enough, such as 15y; to try an old file, --shift-to-now moves it to " +
    "the last 24 hours.)"
  );
}

/** `365 days`, `10 years`. */
function lengthText(text: string): string {
  const count = text.slice(0, -1);
  const noun = text.endsWith("y") ? "year" : "day";
  return `${Number(count).toLocaleString("en")} ${noun}${count === "1" ? "" : "s"}`;
}
