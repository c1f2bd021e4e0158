import { Buffer } from "node:buffer";
import { basename, join } from "node:path";
import { crc32 } from "node:zlib";
import { FileError, type Files } from "../runtime/files.ts";
import type { DamagedRange } from "./segment/frame-scanner.ts";
import type { CreateSalt } from "./segment/segment.ts";
import { emptySegment } from "./segment/segment-format.ts";
import { segmentName } from "./segment/segment-name.ts";
import { type SegmentContents, tornTail } from "./segment/segment-reader.ts";

/** Bytes that were no good frame, and where they are kept now. */
export interface LogDamage extends DamagedRange {
  readonly file: string;
  /** Null where nothing was worth keeping, or could be written. */
  readonly savedAs: string | null;
}

/** Ends the names of bytes that were acknowledged once, and of those that never were: nobody has lost the latter. */
const DAMAGED_SUFFIX = ".damaged";
export const TORN_SUFFIX = ".torn";

export interface RepairOptions {
  readonly files: Files;
  readonly directory: string;
  readonly damagedDirectory: string;
  readonly createSalt: CreateSalt;
}

export interface RepairedLog {
  readonly damage: LogDamage[];
  /** The unfinished write of a process that died, in the newest segment. */
  readonly tornTail: LogDamage | null;
  /**
   * Paths of the segments that should have been repaired and were not: they hold bytes that may be kept nowhere else.
   */
  readonly leftAsFound: ReadonlySet<string>;
}

/**
 * Leaves the log without damage, so that the next start finds none. Damaged bytes are kept first, under a name
 * made of what they are, then the segment is cut or replaced in one step: a crash in between repeats the same
 * work. Where the disk refuses, the segment stays as it is; nothing is ever appended to it again.
 */
export async function repairLog(
  options: RepairOptions,
  segments: readonly SegmentContents[],
  nextSequence: number,
): Promise<RepairedLog> {
  const damage: LogDamage[] = [];
  const leftAsFound = new Set<string>();
  let tail: LogDamage | null = null;
  for (const [index, segment] of segments.entries()) {
    if (!segment.isReadable) {
      // It may be readable another day, so it stays as it is.
      damage.push({ file: segment.path, offset: 0, bytes: segment.bytes, savedAs: null });
      leftAsFound.add(segment.path);
      continue;
    }
    if (segment.damage.length === 0 && segment.goodHead) continue;
    const torn = tornTail(segment, index === segments.length - 1);
    const claim = index === segments.length - 1 ? nextSequence : null;
    const { ranges, isRepaired } = await repairSegment(options, segment, torn, claim);
    if (!isRepaired) leftAsFound.add(segment.path);
    if (torn !== null) tail = ranges.pop() ?? null;
    damage.push(...ranges);
  }
  return { damage, tornTail: tail, leftAsFound };
}

/** `claim` is the sequence that goes on after the newest segment; null for the others. */
async function repairSegment(
  { files, directory, damagedDirectory, createSalt }: RepairOptions,
  segment: SegmentContents,
  torn: DamagedRange | null,
  claim: number | null,
): Promise<{ ranges: LogDamage[]; isRepaired: boolean }> {
  const { path, version, goodHead } = segment;
  const ranges = segment.damage.length > 0 ? segment.damage : [{ offset: 0, bytes: 0 }]; // An empty file.
  const damage: LogDamage[] = ranges.map((range) => ({ ...range, file: path, savedAs: null }));
  try {
    const bytes = await files.read(path);
    for (const [index, range] of ranges.entries()) {
      const lost = bytes.subarray(range.offset, range.offset + range.bytes);
      if (range === torn && lost.every((byte) => byte === 0)) {
        // Never written: only its length was. That it was there tells where the sequences went that it may have taken.
        await save(files, damagedDirectory, path, range, lost.subarray(0, 0), TORN_SUFFIX);
        continue;
      }
      if (lost.length === 0) continue;
      damage[index] = {
        ...damage[index]!,
        savedAs: await save(
          files,
          damagedDirectory,
          path,
          range,
          lost,
          range === torn ? TORN_SUFFIX : DAMAGED_SUFFIX,
        ),
      };
    }
    if (claim !== null && endsDamaged(segment)) {
      // The sequences that were lost with the end of the log stay unused: the next segment begins after them.
      const next = join(directory, segmentName(claim));
      await files.replace(next, emptySegment(version, claim, createSalt));
    }
    if (torn !== null && ranges.length === 1 && goodHead) await cut(files, path, torn.offset);
    else await files.replace(path, withoutDamage(bytes, segment));
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

/** The same bytes always get the same name, and other bytes from the same offset another. */
async function save(
  files: Files,
  damagedDirectory: string,
  path: string,
  { offset }: DamagedRange,
  lost: Uint8Array,
  suffix: string,
): Promise<string> {
  const sum = crc32(lost).toString(16).padStart(8, "0");
  const savedAs = join(damagedDirectory, `${basename(path)}.at-${offset}.${sum}${suffix}`);
  await files.makeDirectory(damagedDirectory);
  await files.replace(savedAs, lost);
  return savedAs;
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

/** The segment with a good head and its good frames alone. */
function withoutDamage(bytes: Uint8Array, { head, damage }: SegmentContents): Uint8Array {
  const chunks = [head];
  let from = head.length;
  for (const range of damage) {
    if (range.offset > from) chunks.push(bytes.subarray(from, range.offset));
    from = Math.max(from, range.offset + range.bytes);
  }
  chunks.push(bytes.subarray(from));
  return Buffer.concat(chunks);
}
