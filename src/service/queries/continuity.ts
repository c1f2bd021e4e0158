/** When a device went from one position to the next, as far as anybody knows. */

/** After a longer silence nobody knows which way it went, nor that it stood, unless it is heard again where it was. */
export const SILENCE_MS_MAX = 10 * 60_000;
/** Faster than anything that reports from the ground or an airliner: one position is wrong, or not of this device. */
export const SPEED_MAX_METERS_PER_SECOND = 400;
