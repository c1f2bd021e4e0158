import type { NotHistory } from "../formats/read/not-history.ts";
import type { Whereabouts } from "./sources/source.ts";

/** A kind of files without positions. */
export interface LeftAlone {
  readonly count: number;
  /** Names the first of them, and says what it is instead. */
  readonly label: string;
  readonly answer: string;
}

/** Files that nothing is imported from. Memory is bounded, because archives may list millions. */
export class UnreadFiles {
  /** Files that the operator named, and that have no positions; `answer` says what they are instead. */
  readonly wrong: { readonly label: string; readonly answer: string }[] = [];
  /** Other files without positions, by kind. */
  readonly leftAlone = new Map<string, LeftAlone>();
  /** Files that can't be read: all that the operator named, and the first of the others. */
  readonly failed: { readonly label: string; readonly isNamed: boolean; readonly reason: string }[] = [];
  failedCount = 0;

  addNotHistory({ label, isNamed }: Whereabouts, { kind, answer }: NotHistory): void {
    if (isNamed) {
      this.wrong.push({ label, answer });
      return;
    }
    const counted = this.leftAlone.has(kind) || this.leftAlone.size < KINDS_MAX ? kind : OTHER_KINDS;
    const before = this.leftAlone.get(counted) ?? { count: 0, label, answer };
    this.leftAlone.set(counted, { ...before, count: before.count + 1 });
  }

  addFailed({ label, isNamed }: Whereabouts, reason: string): void {
    this.failedCount++;
    if (isNamed || this.failed.length < FAILED_KEPT_MAX) this.failed.push({ label, isNamed, reason });
  }
}

/** A person's folders have fewer kinds. */
const KINDS_MAX = 100;

const OTHER_KINDS = "of other kinds";

const FAILED_KEPT_MAX = 1000;
