import { Elysia } from "elysia";
import { ok, type Result } from "../../lib/result.ts";
import type { Scheduler } from "../../lib/schedule/scheduler.ts";
import type { Meters } from "../../metrics/meters.ts";
import type { ServiceError } from "../../model/errors.ts";
import type { AppId } from "../../model/ids.ts";
import type { ReportBatch } from "../../model/report-batch.ts";
import type { Ingest, IngestAnswer } from "../../service/ingest.ts";
import { FUTURE_MAX_MS, retentionStartMs } from "../../time/retention.ts";
import type { BodyBudget, BodyShare } from "../body/body-budget.ts";
import { readBody, TOO_MANY_REPORTS } from "../body/read-body.ts";
import { readReports, reportFormat } from "../body/read-reports.ts";
import { bearerToken, type Call, type Gate } from "../gate.ts";
import { describeIngest } from "../schema/describe.ts";

const PATH = "/ingest/v1/locations";

export interface IngestRoutesDependencies {
  readonly gate: Gate;
  /** Gives bodies the time to be read. */
  readonly scheduler: Scheduler;
  readonly ingest: Ingest;
  readonly bodies: BodyBudget;
  /** Where reports are counted by what became of them. */
  readonly reports: Meters["reports"];
}

/** The way in: reports of the key's own app. */
export function ingestRoutes({ gate, scheduler, ingest, bodies, reports: counts }: IngestRoutesDependencies) {
  async function answer(call: Call) {
    const share = bodies.begin(call);
    if (share === null) return call.fail(TOO_MANY_REPORTS);
    try {
      return await takeIn(call, share);
    } finally {
      share.end();
    }
  }

  async function takeIn(call: Call, share: BodyShare) {
    const format = reportFormat(call.request.headers.get("content-type"));
    if (format === null) {
      return call.fail({
        kind: "media_type_unsupported",
        message: "content-type must be application/json or application/x-ndjson",
      });
    }
    const body = await readBody(call.request, share);
    if (!body.ok) return call.fail(body.error);
    const times = { oldestMs: retentionStartMs(call.nowMs), newestMs: call.nowMs + FUTURE_MAX_MS };
    const reports = await scheduler.run(bodiesOf(call.appId), readReports(body.value, format, times));
    if (!reports.ok) return call.fail(reports.error);
    const stored = await ingestAll(call.appId, reports.value.batches);
    if (!stored.ok) return call.fail(stored.error);
    const { accepted, duplicates, sequence } = stored.value;
    counts.accepted += accepted;
    counts.duplicates += duplicates;
    counts.rejected += reports.value.rejected.length;
    const rejected = reports.value.rejected.map(({ index, deviceId, message }) => ({
      index,
      device_id: deviceId,
      message,
    }));
    return call.object({ success: true, accepted, duplicates, rejected, sequence }, 200);
  }

  /**
   * One entry of the log after the other, since each is a piece of work by itself. Where one fails, those before it
   * are kept, as they would be if the answer had got lost: whoever sends all again is told that they are duplicates.
   */
  async function ingestAll(
    appId: AppId,
    batches: readonly ReportBatch[],
  ): Promise<Result<IngestAnswer, ServiceError>> {
    const all = { accepted: 0, duplicates: 0, sequence: 0 };
    for (const batch of batches) {
      const stored = await ingest(appId, batch);
      if (!stored.ok) return stored;
      all.accepted += stored.value.accepted;
      all.duplicates += stored.value.duplicates;
      all.sequence = stored.value.sequence;
    }
    return ok(all);
  }

  const admit = gate.keyed("POST", PATH, "write", answer);
  return new Elysia().use(bearerToken()).post(PATH, ({ request, bearer }) => admit(request, bearer), {
    parse: "none", // The body is read here, within its bounds.
    detail: describeIngest,
  });
}

/** Who waits while bodies are read: those of the same app, and none of its questions. No app is called so. */
function bodiesOf(appId: AppId): string {
  return `bodies of ${appId}`;
}
