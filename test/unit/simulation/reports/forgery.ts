import {
  createSaltedFrames,
  FRAME_HEADER_BYTES,
  FRAME_SALT_BYTES,
} from "../../../../src/lib/frames/frame.ts";
import type { AppId } from "../../../../src/model/ids.ts";
import { createEntryEncoder } from "../../../../src/wal/entry/entry.ts";
import { batchOf } from "../../../support/reports/batches.ts";
import type { Draws } from "../run/draws.ts";
import type { RunReport } from "./reports.ts";

/*
 * Whole frames of the log, made by a client who has read this repository, and put into the bytes that a batch of its
 * own app will have in the log. Texts can't carry one: UTF-8 has no such bytes. Two kinds of column can:
 *
 *   numbers    readings with three decimals are kept as 32-bit offsets from the least: a reading is any four bytes
 *   profiles   which profile a report has takes one byte, where there are 256 of them: a report is any byte
 */
export interface ForgedFrame {
  /** Whose records it would change. */
  readonly appId: string;
  readonly report: RunReport;
  readonly sequence: number;
}

const PROFILES = 256;
/** What clients take for the log's salt, which a bug may make it. */
export const KNOWN_SALT = new Uint8Array(FRAME_SALT_BYTES);
/** What a salt would be in a block of a disk that was erased. */
const ERASED_SALT = new Uint8Array(FRAME_SALT_BYTES).fill(0xff);
/** Above all that a log has, so that whoever believes one counts on from there. */
export const HUGE_SEQUENCES: readonly number[] = [2 ** 48 + 7, 2 ** 52];

/** A frame, complete but for the salt that nobody outside knows. */
function encodeFrame({ appId, report, sequence }: ForgedFrame, salt: Uint8Array): Uint8Array<ArrayBuffer> {
  const batch = batchOf([report]);
  const frame = createEntryEncoder().encode(appId as AppId, batch, FRAME_HEADER_BYTES);
  createSaltedFrames(salt).stamp(frame, sequence);
  return frame;
}

/** Reports whose columns hold the frame; `base` is what they have in common, but for their times. */
export function hideFrame(forged: ForgedFrame, base: RunReport, draws: Draws): RunReport[] {
  const frame = encodeFrame(forged, draws.chance(0.3) ? ERASED_SALT : KNOWN_SALT);
  return draws.chance(0.9) ? hideInNumbers(frame, base) : hideInProfiles(frame, base);
}

function hideInNumbers(frame: Uint8Array<ArrayBuffer>, base: RunReport): RunReport[] {
  const words = new Uint32Array(frame.buffer);
  return Array.from(words, (word, index) => {
    const report = { ...base, timestamp: base.timestamp + index };
    return word === 0xffffffff ? report : { ...report, vertical_accuracy: word / 1000 };
  });
}

function hideInProfiles(frame: Uint8Array<ArrayBuffer>, base: RunReport): RunReport[] {
  const profiles = Array.from({ length: PROFILES }, (_, profile) => profile);
  return [...profiles, ...frame].map((profile, index) => ({
    ...base,
    timestamp: base.timestamp + index,
    os_version: String(profile),
  }));
}
