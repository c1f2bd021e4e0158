import type { NotHistory } from "../formats/read/not-history.ts";
import type { Whereabouts } from "./sources/source.ts";

/** Files that were found and hold no positions, of a kind. */
export interface LeftAlone {
  readonly count: number;
  /** The first of them, and what it is instead. */
  readonly label: string;
  readonly answer: string;
}

/** The files of an import that nothing comes in from. What is kept of them is bounded: archives list millions. */
export class UnreadFiles {
  /** Files that were named and hold no positions, and what they are instead. */
  readonly wrong: { readonly label: string; readonly answer: string }[] = [];
  /** Others that hold none, by kind. */
  readonly leftAlone = new Map<string, LeftAlone>();
  /** What can't be read at all, and whether it was named: all that were, and the first of the others. */
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

/** More than there are in a person's folders. */
const KINDS_MAX = 100;

const OTHER_KINDS = "of other kinds";

const FAILED_KEPT_MAX = 1000;
