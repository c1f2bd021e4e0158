import { ok, type Result } from "../../lib/result.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import type { Ingest, IngestAnswer } from "./ingest.ts";

/**
 * One entry of the log after the other, since each is a piece of work by itself. Where one fails, those before it
 * are kept, as they would be if the answer had got lost: whoever sends all again is told that they are duplicates.
 */
export async function ingestBatches(
  ingest: Ingest,
  appId: AppId,
  batches: readonly ReportBatch[],
): Promise<Result<IngestAnswer, ServiceError>> {
  const all = { accepted: 0, duplicates: 0, created: 0, sequence: 0 };
  for (const batch of batches) {
    const stored = await ingest(appId, batch);
    if (!stored.ok) return stored;
    all.accepted += stored.value.accepted;
    all.duplicates += stored.value.duplicates;
    all.created += stored.value.created;
    all.sequence = stored.value.sequence;
  }
  return ok(all);
}

/** Who waits while bodies are read: those of the same app, and none of its questions. No app is called so. */
export function bodiesOf(appId: AppId): string {
  return `bodies of ${appId}`;
}
