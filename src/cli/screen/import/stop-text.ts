import type { Retention } from "../../../time/retention.ts";
import { formatCount } from "../counts.ts";
import { dayText } from "./summary.ts";

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
