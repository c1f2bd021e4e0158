import { ok, type Result } from "../../lib/result.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import { addedUp, type Ingest, type IngestAnswer, NOTHING_TAKEN } from "./ingest.ts";

/**
 * One entry of the log after the other, since each is a piece of work by itself. Where one fails, those before it
 * are kept, as they would be if the answer had got lost: whoever sends all again is told that they are duplicates.
 */
export async function ingestBatches(
  ingest: Ingest,
  appId: AppId,
  batches: readonly ReportBatch[],
): Promise<Result<IngestAnswer, ServiceError>> {
  let all = NOTHING_TAKEN;
  for (const batch of batches) {
    const stored = await ingest(appId, batch);
    if (!stored.ok) return stored;
    all = addedUp(all, stored.value);
  }
  return ok(all);
}

/** Who waits while bodies are read: those of the same app, and none of its questions. No app is called so. */
export function bodiesOf(appId: AppId): string {
  return `bodies of ${appId}`;
}
