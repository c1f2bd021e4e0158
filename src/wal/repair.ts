import { Buffer } from "node:buffer";
import { join } from "node:path";
import { DAMAGED_SUFFIX, type Damage, saveDamage, TORN_SUFFIX } from "../directory/damaged-files.ts";
import type { DamagedRange } from "../lib/frames/frame-scanner.ts";
import type { CreateSalt } from "../lib/frames/head.ts";
import { FileError, type Files } from "../runtime/files.ts";
import { encodeSegmentHead, SEGMENT_HEAD_BYTES, segmentName } from "./segment.ts";
import type { SegmentContents } from "./segment-reader.ts";

// Removes damage from the segments of the log, after the damaged bytes are saved elsewhere.

export interface RepairOptions {
  readonly files: Files;
  readonly directory: string;
  readonly damagedDirectory: string;
  readonly createSalt: CreateSalt;
}

export interface RepairedLog {
  readonly damage: Damage[];
  /** The unfinished write of a process that died, in the newest segment. */
  readonly tornTail: Damage | null;
  /** Paths of segments that could not be repaired. They may contain bytes that exist nowhere else. */
  readonly unrepaired: ReadonlySet<string>;
}

/**
 /**
  * Repairs the log, so that the next start finds no damage. Damaged bytes are saved first, under a name derived from
  * their origin; then the segment is cut or replaced in one step, so a crash in between just repeats the work. If the
  * disk refuses, the segment stays as it is and is never appended to.
  */
export async function repairLog(
  options: RepairOptions,
  segments: readonly SegmentContents[],
  nextSequence: number,
): Promise<RepairedLog> {
  const damage: Damage[] = [];
  const unrepaired = new Set<string>();
  let tail: Damage | null = null;
  for (const [index, segment] of segments.entries()) {
    if (!segment.isReadable) {
      // It may become readable later, so it stays as it is.
      damage.push({ file: segment.path, offset: 0, bytes: segment.bytes, savedAs: null });
      unrepaired.add(segment.path);
      continue;
    }
    if (segment.damage.length === 0 && segment.goodHead) continue;
    const claim = index === segments.length - 1 ? nextSequence : null;
    const { ranges, isRepaired } = await repairSegment(options, segment, claim);
    if (!isRepaired) unrepaired.add(segment.path);
    if (segment.tornTail !== null) tail = ranges.pop() ?? null;
    damage.push(...ranges);
  }
  return { damage, tornTail: tail, unrepaired };
}

/** `claim` is the next sequence after the newest segment; null for the other segments. */
async function repairSegment(
  { files, directory, damagedDirectory, createSalt }: RepairOptions,
  segment: SegmentContents,
  claim: number | null,
): Promise<{ ranges: Damage[]; isRepaired: boolean }> {
  const { path, number, salt, goodHead, tornTail: torn } = segment;
  const ranges = segment.damage.length > 0 ? segment.damage : [{ offset: 0, bytes: 0 }]; // An empty file.
  const damage: Damage[] = ranges.map((range) => ({ ...range, file: path, savedAs: null }));
  try {
    const bytes = await files.read(path);
    for (const [index, range] of ranges.entries()) {
      const lost = bytes.subarray(range.offset, range.offset + range.bytes);
      if (range === torn && lost.every((byte) => byte === 0)) {
        // Only the length was written. An empty saved file records that sequences up to here may have been used.
        await saveDamage(files, damagedDirectory, path, range.offset, lost.subarray(0, 0), TORN_SUFFIX);
        continue;
      }
      if (lost.length === 0) continue;
      const suffix = range === torn ? TORN_SUFFIX : DAMAGED_SUFFIX;
      const savedAs = await saveDamage(files, damagedDirectory, path, range.offset, lost, suffix);
      damage[index] = { ...damage[index]!, savedAs };
    }
    if (claim !== null && endsDamaged(segment)) {
      // Sequences that were lost with the end of the log stay unused: the next segment begins after them.
      const next = join(directory, segmentName(claim));
      await files.replace(next, encodeSegmentHead(claim, createSalt()));
    }
    if (torn !== null && ranges.length === 1 && goodHead) await cut(files, path, torn.offset);
    else
      await files.replace(
        path,
        withoutDamage(bytes, encodeSegmentHead(number, salt ?? createSalt()), segment.damage),
      );
    return { ranges: damage, isRepaired: true };
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return { ranges: damage, isRepaired: false };
  }
}

function endsDamaged({ bytes, damage }: SegmentContents): boolean {
  const last = damage.at(-1);
  return last !== undefined && last.offset + last.bytes === bytes;
}

async function cut(files: Files, path: string, sizeBytes: number): Promise<void> {
  const file = await files.openAppend(path);
  try {
    await file.truncate(sizeBytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The segment with this head and its good frames only. */
function withoutDamage(bytes: Uint8Array, head: Uint8Array, damage: readonly DamagedRange[]): Uint8Array {
  const chunks = [head];
  let from = SEGMENT_HEAD_BYTES;
  for (const range of damage) {
    if (range.offset > from) chunks.push(bytes.subarray(from, range.offset));
    from = Math.max(from, range.offset + range.bytes);
  }
  chunks.push(bytes.subarray(from));
  return Buffer.concat(chunks);
}
