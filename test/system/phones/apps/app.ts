import type { PhoneRequest } from "../phone/connections.ts";
import type { Point, PointKind } from "../phone/point.ts";
import type { Rule } from "../rules/rule.ts";

/** One client as it behaves: what it sends, and when it lets go of what it has. */
export interface App {
  /** As people call it. */
  readonly name: string;
  readonly rule: Rule;
  /** How long it waits for an answer. */
  readonly timeoutMs: number;
  /** Whether what is queued is lost when the phone is switched off. */
  readonly queuesInMemory: boolean;
  /** What it can send besides good points. */
  readonly oddities: readonly PointKind[];
  /** Whether its times have no milliseconds. */
  readonly wholeSeconds: boolean;
  request(points: readonly Point[], account: Account): PhoneRequest;
  /** A text that is in what it sends of this point and of no other. */
  markOf(point: Point): string;
  /** What its points are stored under, unless its key is bound. */
  deviceIdOf(account: Account): string;
}

/** Who uses the app, and what they typed. */
export interface Account {
  readonly user: string;
  readonly device: string;
  /** The key's text. */
  readonly key: string;
}
