import { gzipSync } from "node:zlib";
import { PROFILE_FIELDS, STATE_FIELDS } from "../../../../src/model/location-fields.ts";
import { BATCH_REPORTS_MAX } from "../../../../src/model/report-batch.ts";
import { MS_PER_DAY } from "../../../../src/model/time/units.ts";
import { CROWD_PLACE } from "../attack/attacked-data.ts";
import { reports } from "../attack/requests.ts";
import { sendAtPace } from "../attack/sending.ts";
import type { Shape, Target } from "../shape.ts";

/* Attacks with valid reports of maximum size and number. */

const TEXT_FIELDS = [...PROFILE_FIELDS, ...STATE_FIELDS].filter(
  ({ type, pattern }) => type === "string" && pattern === undefined,
);
const TEXT_CHARACTERS = 128;
/** The size of a report with all texts at maximum length, and of one with few texts. */
const WIDE_BYTES = 1600;
const NARROW_BYTES = 160;
const DAYS = 350;

/** Makes a report of a body. `ageMs` becomes the timestamp. */
type MakeReport = (
  row: number,
  body: number,
) => Readonly<Record<string, string | number>> & { readonly ageMs: number };

/** Shapes of valid reports. */
export const REPORT_BODIES: readonly Shape[] = [
  {
    name: "fresh-texts",
    title: "one record, again and again with texts never seen",
    directory: "plain",
    arm(target) {
      const next = inTurn(
        bodiesOf(target, 32, WIDE_BYTES, (row, body) => ({
          device_id: "one",
          ageMs: 0,
          ...texts(row, body),
        })),
      );
      return () => sendAtPace(target, next);
    },
  },
  replacing(
    "maximal-texts",
    "10,000 devices, each time with other texts of the greatest length",
    WIDE_BYTES,
    (row, body) => ({
      device_id: `wide-${row}`,
      ageMs: 0,
      ...texts(row, body),
    }),
  ),
  replacing(
    "many-devices",
    "10,000 devices in each request, and a user for each",
    NARROW_BYTES,
    (row, body) => ({
      device_id: `swarm-${body >> 1}-${row}`,
      user_id: `swarm-user-${body}-${row}`,
      ageMs: 0,
    }),
  ),
  replacing(
    "reports-of-a-year",
    "10,000 reports in each request, spread over the days of a year",
    NARROW_BYTES,
    (row, body) => ({
      device_id: `old-${body >> 1}`,
      user_id: `old-user-${body}`,
      ageMs: (row % DAYS) * MS_PER_DAY + row,
    }),
  ),
];

/** Bodies that replace each other's reports in turn; each is sent once before the measurement. */
function replacing(name: string, title: string, reportBytes: number, make: MakeReport): Shape {
  return {
    name,
    title,
    directory: "plain",
    async arm(target) {
      const requests = bodiesOf(target, 8, reportBytes, make);
      for (const request of requests) {
        const connection = await target.open();
        await connection?.write(request);
        await connection?.answer();
      }
      return () => sendAtPace(target, inTurn(requests));
    },
  };
}

function bodiesOf(
  target: Target,
  count: number,
  reportBytes: number,
  make: MakeReport,
): readonly Uint8Array[] {
  const rows = Math.min(BATCH_REPORTS_MAX, Math.floor(target.bodyBytes / reportBytes));
  const newestMs = Math.floor(Date.now() / 60_000) * 60_000;
  return Array.from({ length: count }, (_, body) => {
    const lines = Array.from({ length: rows }, (_, row) => {
      const { ageMs, ...report } = make(row, body);
      return JSON.stringify({ ...report, timestamp: newestMs - ageMs, ...CROWD_PLACE });
    });
    const headers = { "content-type": "application/x-ndjson", "content-encoding": "gzip" };
    return reports(target, gzipSync(lines.join("\n"), { level: 1 }), headers);
  });
}

function inTurn(requests: readonly Uint8Array[]): () => Uint8Array {
  let sent = 0;
  return () => requests[sent++ % requests.length]!;
}

/** A different text for each field, row and body. */
function texts(row: number, body: number): Readonly<Record<string, string>> {
  return Object.fromEntries(
    TEXT_FIELDS.map(({ name }) => [name, `${row} ${body} ${name} `.padEnd(TEXT_CHARACTERS, "x")]),
  );
}
