/** Hours of the week in a time zone, as the client wrote them. */
export interface ScheduleRule {
  readonly timezone: string;
  readonly weekly: readonly WeeklyRule[];
  /** Dates, YYYY-MM-DD. */
  readonly except: readonly string[];
}

export interface WeeklyRule {
  readonly days: readonly string[];
  /** HH:MM; `to` at or before `from` is on the next day. */
  readonly from: string;
  readonly to: string;
}
