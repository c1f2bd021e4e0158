/* Durations in milliseconds. Unix time has no leap seconds, so they are constant. */

export const MS_PER_SECOND = 1000;
export const MS_PER_MINUTE = 60_000;
export const MS_PER_HOUR = 3_600_000;
export const MS_PER_DAY = 86_400_000;

/** The GPS week counter wraps after 1024 weeks; an old receiver then reports a time this long ago. */
export const GPS_ROLLOVER_MS = 1024 * 7 * MS_PER_DAY;
