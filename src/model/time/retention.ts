import { fail, ok, type Result } from "../../lib/result.ts";
import { MS_PER_DAY } from "./units.ts";

/** A report may be this far ahead of our clock, since phones' clocks run ahead too. */
export const FUTURE_MAX_MS = 10 * 60 * 1000;

/** How far back records are kept. Somebody may set it otherwise at any moment, so it is asked each time. */
export interface Retention {
  /** As it is set, and shown: 365d, 10y, forever. */
  readonly text: string;
  /** Everything before this instant, the start of a UTC day, is gone from answers: the edge. */
  startMs(nowMs: number): number;
}

/** Memory keeps this many days before today whatever the retention is. */
const DAYS_MIN = 7;
const YEARS_MAX = 100;
const DAYS_PER_YEAR = 365.25;

/** The first day of which no millisecond looks like seconds (is below 100,000,000,000): nothing is kept before it. */
const EARLIEST_MS = Date.UTC(1973, 2, 4);

/** A retention that stays as it is. */
export class FixedRetention implements Retention {
  static readonly FOREVER = new FixedRetention("forever", Number.POSITIVE_INFINITY);
  readonly text: string;
  readonly #lengthMs: number;

  private constructor(text: string, days: number) {
    this.text = text;
    this.#lengthMs = days * MS_PER_DAY;
  }

  /** Of `365d`, `10y` or `forever`; or what is wrong with the text. Ten years are 3,653 days: never less than ten. */
  static parse(text: string): Result<FixedRetention, string> {
    if (text === "forever") return ok(FixedRetention.FOREVER);
    const [, digits, unit] = /^([1-9]\d{0,6})([dy])$/.exec(text) ?? [];
    if (digits === undefined) return fail("must be days, years or forever, such as 365d, 10y, forever");
    const days = unit === "d" ? Number(digits) : Math.ceil(Number(digits) * DAYS_PER_YEAR);
    if (days < DAYS_MIN) return fail(`must be at least ${DAYS_MIN}d: a week is always in memory`);
    if (days > YEARS_MAX * DAYS_PER_YEAR) return fail(`must be at most ${YEARS_MAX}y, or forever`);
    return ok(new FixedRetention(text, days));
  }

  static ofDays(days: number): FixedRetention {
    return new FixedRetention(`${days}d`, days);
  }

  startMs(nowMs: number): number {
    return Math.max(EARLIEST_MS, startOfUtcDayMs(nowMs) - this.#lengthMs);
  }
}

/** Where nobody has set another one. */
export const DEFAULT_RETENTION_DAYS = 365;

export const DEFAULT_RETENTION: Retention = FixedRetention.ofDays(DEFAULT_RETENTION_DAYS);

/** Whether records are kept whatever their time. */
export function isForever({ text }: Retention): boolean {
  return text === FixedRetention.FOREVER.text;
}

/** UTC has no leap seconds in Unix time, so days before and after 1970 are all equally long. */
export function startOfUtcDayMs(timestampMs: number): number {
  return Math.floor(timestampMs / MS_PER_DAY) * MS_PER_DAY;
}
