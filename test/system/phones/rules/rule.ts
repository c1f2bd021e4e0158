import type { Outcome } from "../phone/connections.ts";
import type { Point } from "../phone/point.ts";

/** How a client goes through what it has queued: what it sends when, and what it makes of each answer. For ever. */
export type Rule = (phone: Sending) => Promise<never>;

/** What a rule may do. Times are the phone's own; every call throws where the phone was switched off meanwhile. */
export interface Sending {
  /** What is queued, oldest first; resolves once there is anything. */
  waiting(): Promise<readonly Point[]>;
  /** The points made last, sent or not, as a file on the phone holds them. */
  madeLast(count: number): readonly Point[];
  /** Sends one message with these points. */
  send(points: readonly Point[]): Promise<Outcome>;
  take(points: readonly Point[]): void;
  lose(points: readonly Point[], rule: string, isServersFault?: boolean): void;
  pause(phoneMs: number): Promise<void>;
  /** Until another point is made, and no longer than this. */
  untilNextPoint(phoneMs: number): Promise<void>;
  /** How long the phone has had it. */
  ageMs(point: Point): number;
}

/** What a client makes of the answer to one point. */
export type Verdict = "taken" | "kept" | { readonly lost: string; readonly isServersFault: boolean };

export type Judge = (outcome: Outcome, point: Point) => Verdict;

/** Deleted on 2xx, kept on anything else: most clients. */
export const keptUntil2xx: Judge = (outcome) => (isSuccess(outcome) ? "taken" : "kept");

export function isSuccess(outcome: Outcome): boolean {
  return outcome.kind === "answer" && outcome.status >= 200 && outcome.status < 300;
}

/** Acts on a verdict; returns whether the point is off the queue. */
export function settle(phone: Sending, point: Point, verdict: Verdict): boolean {
  if (verdict === "kept") return false;
  if (verdict === "taken") phone.take([point]);
  else phone.lose([point], verdict.lost, verdict.isServersFault);
  return true;
}
