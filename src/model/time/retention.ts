import { fail, ok, type Result } from "../../lib/result.ts";
import { MS_PER_DAY } from "./units.ts";

/** How far ahead of the server's clock a report may be: phones' clocks run ahead too. */
export const FUTURE_MAX_MS = 10 * 60 * 1000;

/** How far back records are kept. An operator may change it at any time, so it is read for each request. */
export interface Retention {
  /** As set and displayed: 365d, 10y, forever. */
  readonly text: string;
  /** The start of a UTC day. Answers contain nothing before it. */
  startMs(nowMs: number): number;
}

/** Memory keeps this many days before today whatever the retention is. */
const DAYS_MIN = 7;
const YEARS_MAX = 100;
const DAYS_PER_YEAR = 365.25;

/** The first day without milliseconds that look like seconds (below 100,000,000,000). No records exist before it. */
const EARLIEST_MS = Date.UTC(1973, 2, 4);

export class FixedRetention implements Retention {
  static readonly FOREVER = new FixedRetention("forever", Number.POSITIVE_INFINITY);
  readonly text: string;
  readonly #lengthMs: number;

  private constructor(text: string, days: number) {
    this.text = text;
    this.#lengthMs = days * MS_PER_DAY;
  }

  /** Parses `365d`, `10y` or `forever`, or says what is wrong. Years are rounded up: ten have 3,653 days. */
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

/** Applies until an operator sets another retention. */
export const DEFAULT_RETENTION_DAYS = 365;

export const DEFAULT_RETENTION: Retention = FixedRetention.ofDays(DEFAULT_RETENTION_DAYS);

export function isForever({ text }: Retention): boolean {
  return text === FixedRetention.FOREVER.text;
}

/** Unix time has no leap seconds, so all days are equally long, before 1970 too. */
export function startOfUtcDayMs(timestampMs: number): number {
  return Math.floor(timestampMs / MS_PER_DAY) * MS_PER_DAY;
}
