import type { Archive } from "../../archive/archive.ts";
import type { Part } from "../../archive/files/manifest.ts";
import type { ArchiveSession } from "../../archive/read/archive-session.ts";
import { fail, ok, type Result } from "../../lib/result.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";
import { isOutOfDescriptors } from "../../runtime/files.ts";
import type { TimeRange } from "../../time/range.ts";
import type { UtcDay } from "../../time/utc-day.ts";
import type { Client, QueryDependencies } from "../find-device.ts";
import { findGaps, partsOf, remaining } from "./gaps.ts";
import { type HistoryStretch, planStretches } from "./plan.ts";

/*
 * What every answer over sealed days has to mind: seals that move records meanwhile, and parts that can't be read.
 */

export interface ArchiveDependencies extends QueryDependencies {
  /** Open by the time of the first query. */
  readonly archive: () => Archive;
  /** Files of parts whose loss an operator has acknowledged. */
  readonly acknowledgedParts: () => Promise<ReadonlySet<string>>;
}

/** A range of an app's records, to be read while it stays planned as it is. */
export interface ArchiveReading {
  readonly session: ArchiveSession;
  readonly stretches: readonly HistoryStretch[];
  /** Parts with records of the app that can be read. */
  readonly partsOfDay: (day: UtcDay) => readonly Part[];
  /** Whether records are missing that an operator has acknowledged as lost. */
  readonly isIncomplete: boolean;
}

/** Reads a range with sealed days; once more, from the beginning, where its stores were not as planned. */
export type ReadArchive = <Value>(
  appId: AppId,
  range: TimeRange,
  client: Client,
  read: (reading: ArchiveReading) => Promise<Value>,
) => Promise<Result<Value, ServiceError>>;

export function createReadArchive(dependencies: ArchiveDependencies): ReadArchive {
  return async function readArchive(appId, range, client, read) {
    try {
      return await readWhole(dependencies, appId, range, client, read);
    } catch (error) {
      if (isOutOfDescriptors(error)) return fail(OUT_OF_DESCRIPTORS);
      throw error;
    }
  };
}

const OUT_OF_DESCRIPTORS: ServiceError = {
  kind: "unavailable",
  message: "too many files are open: archived days can't be read until some are closed",
  retryAfterSeconds: 5,
};

async function readWhole<Value>(
  dependencies: ArchiveDependencies,
  appId: AppId,
  range: TimeRange,
  client: Client,
  read: (reading: ArchiveReading) => Promise<Value>,
): Promise<Result<Value, ServiceError>> {
  const { hot } = dependencies;
  const archive = dependencies.archive();
  for (;;) {
    // A seal moves records from one store to the other: an answer that began before it starts over.
    const { manifest } = archive;
    const stretches = planStretches(hot, archive.manifest, range);
    const days = stretches.filter(({ kind }) => kind !== "memory").flatMap((stretch) => stretch.days);
    const parts = partsOf(archive.manifest, appId, days);
    const suspects = parts.filter(({ file }) => archive.damaged.has(file));
    if (suspects.length > 0) await archive.examine(suspects, true); // Somebody may have put them back.
    const gaps = await findGaps(dependencies, archive, appId, days);
    if (gaps.unacknowledged.length > 0) return fail({ kind: "archive_damaged", days: gaps.unacknowledged });
    if (archive.manifest !== manifest) continue;
    const partsOfDay = (day: UtcDay) => remaining(partsOf(archive.manifest, appId, [day]), gaps);
    const { isIncomplete } = gaps;
    try {
      const answered = await archive.reader.withSession(appId, client.signal, async (session) => {
        const [value, isAsWritten] = await Promise.all([
          read({ session, stretches, partsOfDay, isIncomplete }),
          archive.verifyChecksums(remaining(parts, gaps)),
        ]);
        return isAsWritten ? { value } : null;
      });
      if (!answered.ok) return answered;
      if (answered.value !== null && archive.manifest === manifest) return ok(answered.value.value);
    } catch (error) {
      if (client.signal.aborted) throw error;
      if (archive.manifest !== manifest) continue; // Its files may be gone.
      // Damage that nobody knew of becomes known here, unless the verification beside it has just found it.
      await archive.examine(parts, true);
      if (!parts.some(({ file }) => archive.damaged.has(file) && !gaps.files.has(file))) throw error;
    }
  }
}
