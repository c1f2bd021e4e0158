import { Elysia } from "elysia";
import type { Ingest } from "../../service/ingest.ts";
import { FUTURE_MAX_MS, retentionStartMs } from "../../time/retention.ts";
import { bearerToken, type Call, type Gate } from "../gate.ts";
import { readBody } from "../read-body.ts";
import { readReports, reportFormat } from "../read-reports.ts";
import { describeIngest } from "../schema/describe.ts";

/** The way in: reports of the key's own app. */
export function ingestRoutes({ gate, ingest }: { readonly gate: Gate; readonly ingest: Ingest }) {
  async function answer(call: Call) {
    const format = reportFormat(call.request.headers.get("content-type"));
    if (format === null) {
      return call.fail({
        kind: "media_type_unsupported",
        message: "content-type must be application/json or application/x-ndjson",
      });
    }
    const body = await readBody(call.request);
    if (!body.ok) return call.fail(body.error);
    const times = { oldestMs: retentionStartMs(call.nowMs), newestMs: call.nowMs + FUTURE_MAX_MS };
    const reports = readReports(body.value, format, times);
    if (!reports.ok) return call.fail(reports.error);
    const stored = await ingest(call.appId, reports.value.batch);
    if (!stored.ok) return call.fail(stored.error);
    const { accepted, duplicates, sequence } = stored.value;
    const rejected = reports.value.rejected.map(({ index, deviceId, message }) => ({
      index,
      device_id: deviceId,
      message,
    }));
    return call.object({ success: true, accepted, duplicates, rejected, sequence }, 200);
  }

  return new Elysia()
    .use(bearerToken())
    .post("/ingest/v1/locations", ({ request, bearer }) => gate.admit(request, bearer, "write", answer), {
      parse: "none", // The body is read here, within its bounds.
      detail: describeIngest,
    });
}
