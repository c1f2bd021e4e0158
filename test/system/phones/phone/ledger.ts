import type { Point } from "./point.ts";

/** What one phone knows of each of its points. */
export interface Ledger {
  readonly entries: readonly LedgerEntry[];
  /** What the phone still has to send, oldest first. */
  waiting(): readonly Point[];
  add(point: Point): void;
  noteSent(points: readonly Point[]): void;
  /** The phone was told that they are kept. */
  take(points: readonly Point[]): void;
  lose(points: readonly Point[], loss: Omit<Loss, "kind">): void;
}

export interface LedgerEntry {
  readonly point: Point;
  /** How often it was sent, answered or not. */
  readonly sends: number;
  readonly fate: Fate;
}

/** What has become of a point, as far as its phone knows. */
export type Fate = { readonly kind: "waiting" } | { readonly kind: "taken" } | Loss;

export interface Loss {
  readonly kind: "lost";
  /** The client's own rule, in words, and what made it apply. */
  readonly rule: string;
  /** Whether the server could have had the point kept, by another answer. */
  readonly isServersFault: boolean;
  readonly atMs: number;
}

const WAITING = { kind: "waiting" } as const;
const TAKEN = { kind: "taken" } as const;

export function createLedger(): Ledger {
  const entries: { point: Point; sends: number; fate: Fate }[] = [];
  const waiting = new Map<number, Point>();

  function settle(points: readonly Point[], fate: Fate): void {
    for (const { number } of points) {
      // A point that was sent twice is settled by the first answer that settles it.
      if (!waiting.delete(number)) continue;
      entries[number]!.fate = fate;
    }
  }

  return {
    entries,
    waiting: () => [...waiting.values()],
    add(point) {
      entries.push({ point, sends: 0, fate: WAITING });
      waiting.set(point.number, point);
    },
    noteSent(points) {
      for (const { number } of points) entries[number]!.sends++;
    },
    take: (points) => settle(points, TAKEN),
    lose: (points, loss) => settle(points, { kind: "lost", ...loss }),
  };
}
