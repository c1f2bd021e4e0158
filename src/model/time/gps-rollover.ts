import { MS_PER_DAY } from "./retention.ts";

/** GPS counts 1024 weeks and begins again; an old receiver takes now for so long ago. */
export const GPS_ROLLOVER_MS = 1024 * 7 * MS_PER_DAY;
