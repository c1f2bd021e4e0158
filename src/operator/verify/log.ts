import { basename } from "node:path";
import type { Manifest } from "../../archive/manifest.ts";
import type { InspectedSegment } from "../../wal/read-log.ts";
import { parseSegmentName } from "../../wal/segment.ts";

/**
 * What is missing of the log, a line each. Sequences rise by one, and the log gives up nothing that the archive does
 * not cover; so what is in no segment is covered, or was the end of a write that a crash cut short and that was set
 * aside. A lost segment whose entries an archived day happens to cover is not told from one that went in good order.
 *
 * `setAside` are the names of files of damaged bytes.
 */
export function findLogGaps(
  segments: readonly InspectedSegment[],
  { lastSequence: coveredSequence }: Manifest,
  setAside: readonly string[],
): string[] {
  const gaps: string[] = [];
  const explained = setAside.flatMap((name) => parseSegmentName(name.slice(0, name.indexOf(".at-"))) ?? []);
  let sequence = 0;
  let segmentBefore = 0;
  let isWholeBefore = true;
  for (const { file, lastSequence, isReadable, damage } of segments) {
    const number = parseSegmentName(basename(file)) ?? 0;
    const isExplained = explained.some((each) => each >= segmentBefore && each < number);
    if (isWholeBefore && !isExplained && number - 1 > Math.max(sequence, coveredSequence))
      gaps.push(
        `Entries ${Math.max(sequence, coveredSequence) + 1} to ${number - 1} are neither in the log nor in the archive`,
      );
    sequence = Math.max(sequence, number - 1, lastSequence ?? 0);
    segmentBefore = number;
    isWholeBefore = isReadable && damage.length === 0;
  }
  if (isWholeBefore && sequence < coveredSequence)
    gaps.push(`The log ends at entry ${sequence}, and the archive covers entries up to ${coveredSequence}`);
  return gaps;
}
