import type { SkipReason } from "../../formats/read/file-point.ts";
import type { FileGroup } from "../../import/look.ts";
import type { TallySoFar } from "../../import/tally/tally.ts";
import type { Retention } from "../../model/time/retention.ts";
import { formatCount } from "../screen/layout.ts";
import { dayText, skipText, totalOf } from "./summary.ts";

/** Reasons that the operator asked for, and things that are no positions anybody was at. */
const NO_MISTAKES: readonly SkipReason[] = [
  "out_of_range",
  "too_old",
  "derived",
  "waypoint",
  "route_point",
  "no_location",
];

/** A sentence for each file of which nothing came in for one reason: like a missing zone, that ends with code 2. */
export function uselessTexts(groups: readonly FileGroup[], tallies: readonly TallySoFar[]): string[] {
  return groups.flatMap(({ label, files }, group) => {
    const { points, skips } = tallies[group]!;
    const mistakes = skips.filter(({ reason }) => !NO_MISTAKES.includes(reason));
    const [first] = mistakes;
    if (points > 0 || first === undefined || mistakes.some(({ reason }) => reason !== first.reason))
      return [];
    const what =
      mistakes.length === 1 ? skipText(first) : `${formatCount(totalOf(mistakes))} that can't be used`;
    const of = files === 1 ? `"${label}"` : `"${label}" and ${formatCount(files - 1)} more`;
    return `Nothing came in from ${of}: ${what}, first ${first.places[0] ?? ""}.`;
  });
}

/** What an import says that would lose points to the retention, and what can be done. */
export function retentionStopText(
  {
    points,
    pointsBeforeEdge,
    edgeMs,
  }: { readonly points: number; readonly pointsBeforeEdge: number; readonly edgeMs: number },
  retention: Pick<Retention, "text">,
): string {
  return (
    `${formatCount(pointsBeforeEdge)} of ${formatCount(points)} points lie before ${dayText(edgeMs)}, ` +
    `the edge of the ${lengthText(retention.text)} kept here. ` +
    "Run again with --skip-old to leave them out, or raise the retention first. " +
    "(settings set retention forever, or as long as it takes, such as 15y; to try an old file out, --shift-to-now " +
    "moves it to the last 24 hours.)"
  );
}

/** `365 days`, `10 years`. */
function lengthText(text: string): string {
  const count = text.slice(0, -1);
  const noun = text.endsWith("y") ? "year" : "day";
  return `${Number(count).toLocaleString("en")} ${noun}${count === "1" ? "" : "s"}`;
}
