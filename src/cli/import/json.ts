import type { Look } from "../../import/look.ts";
import type { WrongSpeeds } from "../../import/tally/speed-check.ts";
import type { TallySoFar } from "../../import/tally/tally.ts";
import { thingsOf, totalOf } from "./summary.ts";

/** The JSON object that `--json` prints at the end of an import or a dry run. Times are Unix ms. */
export function importJson(
  look: Pick<Look, "groups" | "unread">,
  tallies: readonly TallySoFar[],
  rest: { readonly end: string; readonly id?: string; readonly wrongSpeeds?: readonly WrongSpeeds[] },
): string {
  const groups = look.groups.map(({ label, formatName, title, reason, files }, index) => {
    const tally = tallies[index]!;
    const {
      points,
      created,
      sameTime,
      alreadyThere,
      resent,
      skips,
      remarks,
      leftOut,
      unreadable,
      faults,
      extent,
    } = tally;
    return {
      file: label,
      files,
      format: formatName,
      format_title: title,
      recognized_by: reason,
      read: thingsOf(tally),
      usable: points,
      new: created,
      already_there: alreadyThere,
      same_time: sameTime,
      sent_again: resent,
      skipped: totalOf(skips),
      skips: skips.map(({ reason, message, count, places }) => ({ reason, message, count, places })),
      remarks: Object.fromEntries(remarks),
      left_out: Object.fromEntries(addedUp(leftOut, unreadable)),
      left_out_unreadable: Object.fromEntries(unreadable),
      unreadable_files: faults,
      first: extent?.firstMs ?? null,
      last: extent?.lastMs ?? null,
      bounds: extent === null ? null : [extent.west, extent.south, extent.east, extent.north],
      devices: extent?.devices ?? [],
      has_more_devices: extent?.hasMoreDevices ?? false,
    };
  });
  const { wrong, failed, failedCount, leftAlone } = look.unread;
  const { wrongSpeeds, ...others } = rest;
  const unlike = {
    not_history: wrong,
    unreadable: failed.map(({ label, reason }) => ({ label, reason })),
    unreadable_count: failedCount,
    left_alone: Object.fromEntries([...leftAlone].map(([kind, { count }]) => [kind, count])),
  };
  return `${JSON.stringify({ ...others, groups, ...unlike, wrong_speeds: wrongSpeeds ?? [] })}\n`;
}

/** The sums of several counts by name. */
function addedUp(
  ...counts: readonly (readonly (readonly [string, number])[])[]
): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const [name, count] of counts.flat()) sums.set(name, (sums.get(name) ?? 0) + count);
  return sums;
}
