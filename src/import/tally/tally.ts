import type { Remark } from "../../formats/read/file-point.ts";
import type { ImportBatch, Skip } from "../reading/import-batch.ts";
import { type Extent, ExtentSoFar } from "./extent.ts";
import { type SkipCount, SkipCounts } from "./skip-counts.ts";

/** The result of a batch that is on disk. */
export interface Delivered {
  /** New records. */
  readonly created: number;
  /** Rows that replaced a record of the same time, or added to it. */
  readonly sameTime: number;
  /** Rows that changed nothing. */
  readonly alreadyThere: number;
  /** Rows that were sent again because no answer came; those counted as duplicates may be new. */
  readonly resent: number;
  /** Rows that only the receiver refused. */
  readonly rejected: readonly { readonly index: number; readonly message: string }[];
}

/** The counts of one group of files, as they are shown and as a later run continues them. */
export interface TallySoFar {
  /** Points that can be used, and rows of our own formats. */
  readonly points: number;
  readonly created: number;
  readonly sameTime: number;
  readonly alreadyThere: number;
  readonly resent: number;
  readonly skips: readonly SkipCount[];
  readonly remarks: readonly (readonly [Remark, number])[];
  /**
   * By name, how often optional fields were omitted because of a value out of bounds, and because of an unreadable one.
   */
  readonly leftOut: readonly (readonly [string, number])[];
  readonly unreadable: readonly (readonly [string, number])[];
  /** Files that could not be read to their end. */
  readonly faults: number;
  readonly extent: Extent | null;
}

/** Counts the results of one group of files. */
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

  /** Adds a row that the receiver refused. */
  addRejected(skip: Skip): void {
    this.points--;
    this.#skips.add(skip);
  }

  /** All points, rows and skips of the files. */
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
