import { expect } from "bun:test";
import { type ReportFormat, readReports } from "../../../../src/http/body/read-reports.ts";
import type { Steps } from "../../../../src/lib/schedule/steps.ts";
import { UNBOUND } from "../../../../src/model/binding.ts";
import { addReport } from "../../../../src/model/report.ts";
import {
  BATCH_REPORTS_MAX,
  createReportBatchBuilder,
  type ReportBatch,
} from "../../../../src/model/report-batch.ts";
import { ENTRY_REPORTS_MAX } from "../../../../src/model/report-batches.ts";

/* Bodies of reports as the server reads them, and as the obvious reader does that parses the whole at once. */

export const TIMES = { oldestMs: 1_000_000_000_000, newestMs: 2_000_000_000_000 };
export const RULES = { times: TIMES, binding: UNBOUND };
export const NOW_MS = 1_800_000_000_000;

export interface Outcome {
  readonly error?: string;
  readonly rows?: readonly unknown[];
  readonly rejected?: readonly unknown[];
}

export function read(body: Uint8Array, format: ReportFormat): Outcome {
  const { value } = stepped(readReports(body, format, RULES));
  if (!value.ok) return { error: "message" in value.error ? value.error.message : value.error.kind };
  const { batches, rejected } = value.value;
  for (const { count } of batches.slice(0, -1)) expect(count).toBe(ENTRY_REPORTS_MAX);
  return { rows: batches.flatMap(rowsOf), rejected };
}

export function stepped<Value>(steps: Steps<Value>): { value: Value; count: number } {
  for (let count = 1; ; count++) {
    const { done, value } = steps.next();
    if (done === true) return { value, count };
  }
}

function rowsOf({
  count,
  texts,
  device,
  timestampMs,
  numbers,
  profiles,
  profile,
  states,
  state,
}: ReportBatch) {
  const textsOf = (tuples: Uint32Array, tuple: number, all: number) => {
    const width = tuples.length / all;
    return [...tuples.subarray(tuple * width, (tuple + 1) * width)].map((text) =>
      text === 0 ? null : texts[text],
    );
  };
  const [profileCount, stateCount] = [1 + Math.max(...profile, 0), 1 + Math.max(...state, 0)];
  return Array.from({ length: count }, (_, row) => [
    texts[device[row]!],
    timestampMs[row],
    numbers.map((column) => column[row]),
    textsOf(profiles, profile[row]!, profileCount),
    textsOf(states, state[row]!, stateCount),
  ]);
}

/** The same by parsing the whole at once. */
export function readPlainly(body: Uint8Array, format: ReportFormat): Outcome {
  if (body.length === 0) return { error: "the body is empty" };
  return format === "json" ? readJsonPlainly(body) : readLinesPlainly(body);
}

function readJsonPlainly(body: Uint8Array): Outcome {
  const text = decoded(body);
  if (text === null) return { error: "the body is not valid UTF-8" };
  const parsed = parse(text);
  if (parsed === undefined) return { error: "the body is not valid JSON: it cannot be parsed" };
  if (Array.isArray(parsed))
    return {
      error:
        'the body is a bare array: wrap it as {"locations":[...]}, or send one report per line as application/x-ndjson',
    };
  if (typeof parsed !== "object" || parsed === null)
    return { error: 'the body must be {"locations":[...]} or one report' };
  const { locations } = parsed as { locations?: unknown };
  if (locations !== undefined && !Array.isArray(locations))
    return { error: "locations must be an array of reports" };
  return outcomeOf((locations ?? [parsed]).map((value: unknown) => ({ value })));
}

function readLinesPlainly(body: Uint8Array): Outcome {
  const lines = Buffer.from(body).toString("latin1").split("\n");
  const full = lines.filter((line) => /[^ \t\r]/.test(line));
  return outcomeOf(
    full.map((line) => {
      const text = decoded(Buffer.from(line.replace(/^[ \t\r]+/, ""), "latin1"));
      if (text === null) return { fault: "the line is not valid UTF-8" };
      const value = parse(text);
      return value === undefined ? { fault: "the line is not valid JSON: it cannot be parsed" } : { value };
    }),
  );
}

function outcomeOf(reports: readonly { readonly value?: unknown; readonly fault?: string }[]): Outcome {
  if (reports.length > BATCH_REPORTS_MAX) return { error: "at most 10,000 reports fit in one request" };
  const builder = createReportBatchBuilder(1);
  const rejected: object[] = [];
  reports.forEach(({ value, fault }, index) => {
    const message = fault ?? addReport(value, TIMES, builder);
    if (message === null) return;
    const deviceId = (value as { device_id?: unknown } | null | undefined)?.device_id;
    const isShown = typeof deviceId === "string" && deviceId.length <= 256;
    rejected.push({ index, message, ...(isShown ? { deviceId } : {}) });
  });
  return { rows: rowsOf(builder.build()), rejected };
}

function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
