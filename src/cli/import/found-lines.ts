import type { Look } from "../../import/look.ts";
import type { LeftAlone } from "../../import/unread-files.ts";
import { countOf, formatCount } from "../screen/layout.ts";

/** What an import says that it was given, a line each; of what is no use the first and how many more. */
export function foundLines({ groups, unread }: Pick<Look, "groups" | "unread">): string[] {
  const { wrong, leftAlone, failed, failedCount } = unread;
  const lines = groups.map(({ label, title, reason, files }) => {
    const more = files > 1 ? `, and ${countOf(files - 1, "file")} more` : "";
    return `${label}: ${title} (${reason})${more}`;
  });
  for (const { label, answer } of wrong) lines.push(`${label} ${answer}.`);
  // Those that were named stop the import, so they come first.
  const shown = failed.toSorted((a, b) => Number(b.isNamed) - Number(a.isNamed)).slice(0, FAILED_SHOWN_MAX);
  for (const { label, reason } of shown) lines.push(`${label}: ${reason}.`);
  if (failedCount > shown.length)
    lines.push(`${countOf(failedCount - shown.length, "file")} more can't be read.`);
  if (leftAlone.size === 0) return lines;
  const kinds = [...leftAlone].sort(([, a], [, b]) => b.count - a.count);
  lines.push(leftAloneLine(kinds));
  // Whoever looked for a history hears why there is none: the rarer a file, the more it may say of that.
  if (groups.length === 0)
    for (const [, { label, answer }] of kinds.slice(-ANSWERS_SHOWN_MAX)) lines.push(`${label} ${answer}.`);
  return lines;
}

const FAILED_SHOWN_MAX = 20;
const KINDS_SHOWN_MAX = 12;
const ANSWERS_SHOWN_MAX = 5;

/** `Left alone: 12 files (8 jpg, 4 html).` */
function leftAloneLine(kinds: readonly (readonly [string, LeftAlone])[]): string {
  const sum = (some: typeof kinds) => some.reduce((total, [, { count }]) => total + count, 0);
  const words = kinds.slice(0, KINDS_SHOWN_MAX).map(([kind, { count }]) => `${formatCount(count)} ${kind}`);
  const rest = kinds.slice(KINDS_SHOWN_MAX);
  if (rest.length > 0) words.push(`${formatCount(sum(rest))} of ${countOf(rest.length, "other kind")}`);
  return `Left alone: ${countOf(sum(kinds), "file")} (${words.join(", ")}).`;
}
