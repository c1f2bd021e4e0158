import {
  type ErasureSubject,
  encodeLedger,
  erasuresOf,
  type LedgerContent,
  type LedgerErasure,
  readLedger,
} from "../../directory/erasure-ledger.ts";
import { directoryPaths } from "../../directory/paths.ts";
import { messageOf } from "../../lib/message-of.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import { isUnbounded } from "../../model/erasure.ts";
import type { TimeRange } from "../../model/time/range.ts";
import type { Files } from "../../runtime/files.ts";
import { findSubjects, type KnownSubjectsOptions } from "./known-subjects.ts";

/** What has to be erased again. */
export interface ErasureAgain {
  readonly subject: ErasureSubject;
  readonly range: TimeRange;
}

/** The ledger in a file; else a sentence. */
export async function readNewerLedger(
  files: Pick<Files, "read">,
  path: string,
): Promise<Result<LedgerContent, string>> {
  const { state, content } = await readLedger(files, path);
  if (content !== null) return ok(content);
  if (typeof state === "object") return fail(`"${path}" can't be used: ${state.reason}.`);
  return fail(`There is no file "${path}".`);
}

export interface TakeOverOptions extends KnownSubjectsOptions {
  readonly newer: LedgerContent;
  readonly nowMs: number;
}

/**
 * Adds the erasures of a newer ledger to that of a restored directory, which nothing may have open, and returns those
 * that the directory has anything of. What it has of them must be erased before anything else happens to it, since they
 * count as finished. The error is a sentence.
 */
export async function takeOverLedger(options: TakeOverOptions): Promise<Result<ErasureAgain[], string>> {
  const { files, dataDir, newer, nowMs } = options;
  const path = directoryPaths(dataDir).erasures;
  const { state, content: own } = await readLedger(files, path);
  if (typeof state === "object") return fail(`The backup's erasures.json can't be used: ${state.reason}.`);
  if (own !== null && own.salt !== newer.salt)
    return fail(
      "The ledger of erasures is that of another data directory: its salt is not that of the backup's.",
    );
  const ownById = new Map(own?.erasures.map((erasure) => [erasure.id, erasure]));
  const unknown = newer.erasures.filter(({ id }) => !ownById.has(id));
  if (unknown.length === 0) return ok([]);
  let subjects: readonly ErasureSubject[];
  try {
    subjects = await findSubjects(options);
  } catch (error) {
    return fail(`What the backup has can't be searched: ${messageOf(error)}.`);
  }
  const again = matching({ ...newer, erasures: unknown }, subjects);
  const finished = unknown.map((erasure) => ({ ...erasure, finishedMs: erasure.finishedMs ?? nowMs }));
  const erasures = [...(own?.erasures ?? []), ...finished];
  await files.replace(path, encodeLedger({ salt: newer.salt, erasures }));
  return ok(again);
}

/** The erasures of each subject, as few as say the same. */
function matching(ledger: LedgerContent, subjects: readonly ErasureSubject[]): ErasureAgain[] {
  return subjects.flatMap((subject) => {
    const ranges = erasuresOf(ledger, subject).map(rangeOf);
    const whole = ranges.find(isUnbounded);
    return (whole === undefined ? ranges : [whole]).map((range) => ({ subject, range }));
  });
}

function rangeOf({ startMs, endMs }: LedgerErasure): TimeRange {
  return { startMs, endMs };
}
