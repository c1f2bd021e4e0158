/* Lengths of time in milliseconds. Unix time has no leap seconds, so each is always as long. */

export const MS_PER_SECOND = 1000;
export const MS_PER_MINUTE = 60_000;
export const MS_PER_HOUR = 3_600_000;
export const MS_PER_DAY = 86_400_000;

/** GPS counts 1024 weeks and begins again; an old receiver takes now for a time that long ago. */
export const GPS_ROLLOVER_MS = 1024 * 7 * MS_PER_DAY;
