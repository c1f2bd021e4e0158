import type { Remark } from "../../formats/read/file-point.ts";
import type { ImportBatch, Skip } from "../reading/import-batch.ts";
import { type Extent, ExtentSoFar } from "./extent.ts";
import { type SkipCount, SkipCounts } from "./skip-counts.ts";

/** What became of a batch, once it is on disk. */
export interface Delivered {
  /** Records that were not there before. */
  readonly created: number;
  /** Rows at the time of a record that was there: of another position, or with more than it had. */
  readonly sameTime: number;
  /** Rows of which nothing was new. */
  readonly alreadyThere: number;
  /** Rows that were sent again since no answer came: what counts as a duplicate of them may be new. */
  readonly resent: number;
  /** Rows that only the receiver refused. */
  readonly rejected: readonly { readonly index: number; readonly message: string }[];
}

/** What became of the files of one group, as people are told and a later run goes on from. */
export interface TallySoFar {
  /** Points that can be used, and rows of our own formats. */
  readonly points: number;
  readonly created: number;
  readonly sameTime: number;
  readonly alreadyThere: number;
  readonly resent: number;
  readonly skips: readonly SkipCount[];
  readonly remarks: readonly (readonly [Remark, number])[];
  /** Optional fields that were left out since their value is out of bounds, and since it can't be read. */
  readonly leftOut: readonly (readonly [string, number])[];
  readonly unreadable: readonly (readonly [string, number])[];
  /** Files that could not be read to their end. */
  readonly faults: number;
  readonly extent: Extent | null;
}

/** Counts what became of the files of one group. */
export class Tally {
  points: number;
  created: number;
  sameTime: number;
  alreadyThere: number;
  resent: number;
  faults: number;
  readonly #skips: SkipCounts;
  readonly #remarks: Map<Remark, number>;
  readonly #leftOut: Map<string, number>;
  readonly #unreadable: Map<string, number>;
  readonly #extent: ExtentSoFar;

  constructor(before: TallySoFar | null = null) {
    this.points = before?.points ?? 0;
    this.created = before?.created ?? 0;
    this.sameTime = before?.sameTime ?? 0;
    this.alreadyThere = before?.alreadyThere ?? 0;
    this.resent = before?.resent ?? 0;
    this.faults = before?.faults ?? 0;
    this.#skips = new SkipCounts(before?.skips);
    this.#remarks = new Map(before?.remarks);
    this.#leftOut = new Map(before?.leftOut);
    this.#unreadable = new Map(before?.unreadable);
    this.#extent = new ExtentSoFar(before?.extent);
  }

  addBatch({ batch, skips, faults, remarks, leftOut, unreadable }: ImportBatch): void {
    this.points += batch.count;
    this.faults += faults.length;
    this.#extent.add(batch);
    for (const skip of skips) this.#skips.add(skip);
    for (const [remark, count] of remarks) addTo(this.#remarks, remark, count);
    for (const [name, count] of leftOut) addTo(this.#leftOut, name, count);
    for (const [name, count] of unreadable) addTo(this.#unreadable, name, count);
  }

  addDelivered({ created, sameTime, alreadyThere, resent }: Delivered): void {
    this.created += created;
    this.sameTime += sameTime;
    this.alreadyThere += alreadyThere;
    this.resent += resent;
  }

  /** A row that its batch had and the receiver did not take. */
  addRejected(skip: Skip): void {
    this.points--;
    this.#skips.add(skip);
  }

  /** All that was found in the files. */
  get things(): number {
    return this.points + this.#skips.total;
  }

  get skipped(): number {
    return this.#skips.total;
  }

  soFar(): TallySoFar {
    const { points, created, sameTime, alreadyThere, resent, faults } = this;
    return {
      points,
      created,
      sameTime,
      alreadyThere,
      resent,
      skips: this.#skips.all(),
      remarks: [...this.#remarks],
      leftOut: [...this.#leftOut],
      unreadable: [...this.#unreadable],
      faults,
      extent: this.#extent.extent,
    };
  }
}

function addTo<Name>(counts: Map<Name, number>, name: Name, count: number): void {
  counts.set(name, (counts.get(name) ?? 0) + count);
}
