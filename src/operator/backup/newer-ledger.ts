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

/** A line of the ledger that has to be erased again. */
export interface ErasureAgain {
  readonly id: string;
  /** What the directory has anything of: a user, or devices. */
  readonly subjects: readonly [ErasureSubject, ...ErasureSubject[]];
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
  // The log of the backup may lack the entry of one that its ledger has as pending.
  const unfinished = newer.erasures.filter(({ id }) => (ownById.get(id)?.finishedMs ?? null) === null);
  if (unfinished.length === 0) return ok([]);
  let subjects: readonly ErasureSubject[];
  try {
    subjects = await findSubjects(options);
  } catch (error) {
    return fail(`What the backup has can't be searched: ${messageOf(error)}.`);
  }
  const again = matching({ ...newer, erasures: unfinished }, subjects);
  for (const erasure of unfinished)
    ownById.set(erasure.id, { ...erasure, finishedMs: erasure.finishedMs ?? nowMs });
  await files.replace(path, encodeLedger({ salt: newer.salt, erasures: [...ownById.values()] }));
  return ok(again);
}

/** The lines that are about any of the subjects, less those of which another line destroys all. */
function matching(ledger: LedgerContent, subjects: readonly ErasureSubject[]): ErasureAgain[] {
  const byLine = new Map<LedgerErasure, ErasureSubject[]>();
  for (const subject of subjects) {
    const lines = erasuresOf(ledger, subject);
    const whole = lines.find(isUnbounded);
    for (const line of whole === undefined ? lines : [whole]) {
      const known = byLine.get(line);
      if (known === undefined) byLine.set(line, [subject]);
      else known.push(subject);
    }
  }
  return [...byLine].map(([{ id, startMs, endMs }, [first, ...others]]) => ({
    ...{ id, range: { startMs, endMs } },
    subjects: [first!, ...others],
  }));
}
