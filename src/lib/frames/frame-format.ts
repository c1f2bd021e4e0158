import type { Views } from "./views.ts";

/**
 * How the frames of a segment are told from other bytes. Positions are multiples of 8 with room for a frame's header.
 */
export interface FrameFormat {
  /** Of the good frame at the position; -1 where there is none. */
  payloadBytes(views: Views, at: number): number;
  /** Of the good frame at the position. */
  sequence(views: Views, at: number): number;
  /**
   * How far from a position without a good frame the next may begin. `isExpected` where one should begin there, since
   * another, good or bad, ended.
   */
  damagedBytes(views: Views, at: number, isExpected: boolean): number;
}
