import { unguardedText } from "../../formats/csv-guard.ts";
import type { CsvReader } from "../../lib/text/csv-reader.ts";
import { parseDecimal } from "../../lib/text/decimal.ts";
import type { UserId } from "../../model/ids.ts";
import {
  type LocationField,
  NUMBER_FIELDS,
  PROFILE_FIELDS,
  profileIndex,
  STATE_FIELDS,
} from "../../model/location-fields.ts";
import { type AcceptedTimes, addReport } from "../../model/report.ts";
import type { ReportBatchBuilder } from "../../model/report-batch.ts";
import { createTextCache } from "./text-cache.ts";

/** A column of a CSV file and its field. */
export interface CsvColumn {
  /** Index in a row, from 0. */
  readonly index: number;
  readonly field: LocationField;
}

/** From here on (September 2001) a time is certainly in milliseconds; `addReport` judges smaller ones. */
const SURELY_MILLISECONDS_MIN = 1e12;

const USER_MEMBER = profileIndex("user_id");

/**
 * Makes reports from the rows of a CSV file with a known header. An empty field is absent from the report.
 *
 * `#addPlain` copies a row of plain numbers within bounds, and texts that were checked before, from the bytes into the
 * columns. Any other row becomes a report object, and `addReport`, which HTTP uses too, decides and says what is wrong.
 * On one core of a 2-core machine the first way does 2 million rows/s, the second 0.6 million.
 */
export class CsvRows {
  readonly #csv: CsvReader;
  readonly #plan: readonly PlannedColumn[];
  /** The user of reports that name none, or null. */
  readonly #userId: UserId | null;
  readonly #cache = createTextCache();
  /** The index of that user's text in the batch. */
  #userText = 0;

  constructor(csv: CsvReader, columns: readonly CsvColumn[], userId: UserId | null) {
    this.#csv = csv;
    this.#plan = columns.map(planColumn);
    this.#userId = userId;
  }

  /** From now on rows go into this batch. */
  use(builder: ReportBatchBuilder): void {
    this.#userText = this.#userId === null ? 0 : builder.text(this.#userId);
    this.#cache.use(builder);
  }

  /** Adds the reader's row to the open batch; returns what is wrong with it, or null. */
  add(builder: ReportBatchBuilder, times: AcceptedTimes): string | null {
    return this.#addPlain(builder, times) ? null : this.#addChecked(builder, times);
  }

  /** Returns false, without adding anything, if the row needs the full check. */
  #addPlain(builder: ReportBatchBuilder, times: AcceptedTimes): boolean {
    const { bytes, starts, ends, escaped } = this.#csv;
    const plan = this.#plan;
    const cache = this.#cache;
    const { numbers, profile, state } = builder;
    const oldestMs = Math.max(times.oldestMs, SURELY_MILLISECONDS_MIN);
    let device = 0;
    let timestampMs = 0;
    builder.begin();
    if (this.#userText !== 0) profile[USER_MEMBER] = this.#userText;
    for (let c = 0; c < plan.length; c++) {
      const { index, kind, target, minimum, maximum, required } = plan[c]!;
      const start = starts[index]!;
      const end = ends[index]!;
      if (start === end) {
        if (required) return false;
        continue;
      }
      if (kind === "number") {
        const value = parseDecimal(bytes, start, end);
        if (!(value >= minimum && value <= maximum)) return false;
        numbers[target] = value + 0; // -0 becomes 0, as in `addReport`.
        continue;
      }
      if (kind === "timestamp") {
        timestampMs = parseDecimal(bytes, start, end);
        if (!(timestampMs >= oldestMs && timestampMs <= times.newestMs)) return false;
        if (!Number.isSafeInteger(timestampMs)) return false;
        continue;
      }
      if (escaped[index] === 1) return false;
      const text = cache.find(c, bytes, start, end);
      if (text < 0) return false;
      if (kind === "device") device = text;
      else if (kind === "profile") profile[target] = text;
      else state[target] = text;
    }
    builder.add(device, timestampMs);
    return true;
  }

  /** Adds the row by way of a report object; returns what is wrong with it. */
  #addChecked(builder: ReportBatchBuilder, times: AcceptedTimes): string | null {
    const csv = this.#csv;
    const { starts, ends } = csv;
    const report: Record<string, unknown> = this.#userId === null ? {} : { user_id: this.#userId };
    for (const { index, field, kind } of this.#plan) {
      const start = starts[index]!;
      const end = ends[index]!;
      if (start === end) continue;
      const text = csv.text(index);
      if (text === null) return `${field.name} is not valid UTF-8`;
      if (kind === "number" || kind === "timestamp") {
        const value = parseDecimal(csv.bytes, start, end);
        report[field.name] = Number.isNaN(value) ? text : value; // `addReport` says that a text is no number.
      } else {
        report[field.name] = field.type === "boolean" ? parseBoolean(text) : unguardedText(text);
      }
    }
    const message = addReport(report, times, builder);
    if (message === null) this.#rememberTexts();
    return message;
  }

  #rememberTexts(): void {
    const csv = this.#csv;
    const { starts, ends, escaped } = csv;
    for (const [c, { index, kind }] of this.#plan.entries()) {
      if (kind === "number" || kind === "timestamp" || escaped[index] === 1) continue;
      const start = starts[index]!;
      const end = ends[index]!;
      if (start < end) this.#cache.add(c, csv.bytes, start, end, unguardedText(csv.text(index)!));
    }
  }
}

/** A column with the properties of its field that the loop over rows needs. */
interface PlannedColumn extends CsvColumn {
  readonly kind: "device" | "timestamp" | "number" | "profile" | "state";
  /** Index among the fields of its kind. */
  readonly target: number;
  readonly minimum: number;
  readonly maximum: number;
  readonly required: boolean;
}

function planColumn({ index, field }: CsvColumn): PlannedColumn {
  const kind = field.column;
  if (kind === "derived") throw new TypeError(`${field.name} is no field of a report`);
  return {
    index,
    field,
    kind,
    target:
      [NUMBER_FIELDS, PROFILE_FIELDS, STATE_FIELDS].find((list) => list.includes(field))?.indexOf(field) ?? 0,
    minimum: field.minimum ?? Number.NEGATIVE_INFINITY,
    maximum: field.maximum ?? Number.POSITIVE_INFINITY,
    required: field.required === true,
  };
}

/** Any other text is returned unchanged, for `addReport` to refuse. */
function parseBoolean(text: string): boolean | string {
  if (text === "true") return true;
  return text === "false" ? false : text;
}
