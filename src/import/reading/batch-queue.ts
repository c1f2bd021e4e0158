import type { Remark, SkipReason } from "../../formats/read/file-point.ts";
import { BATCH_REPORTS_MAX, createReportBatchBuilder } from "../../model/report-batch.ts";
import type { Fault, ImportBatch, ImportPosition, Origin, Skip } from "./import-batch.ts";

/**
 * Collects the reports of one file after the other in batches, which small files share. What an earlier run has
 * finished is counted but not collected.
 */
export class BatchQueue {
  readonly #ready: ImportBatch[] = [];
  #open: OpenBatch | null = null;
  #group = 0;
  #source = 0;
  #things = 0;
  /** How many of the source's points and skips an earlier run has finished. */
  #finished = 0;
  #origin: Origin | null = null;

  /** Starts another file. A batch holds files of one group only, because groups are counted apart. */
  begin(group: number, origin: Origin, { source, things }: ImportPosition): void {
    if (group !== this.#group) this.flush();
    this.#group = group;
    this.#source = source;
    this.#things = 0;
    this.#finished = things;
    this.#setOrigin(origin);
  }

  /** Finishes the file. */
  end(): void {
    this.#source++;
    this.#things = 0;
    this.#finished = 0;
  }

  /** The batch for the next report or skip; a new one if the former was full. */
  get open(): OpenBatch {
    this.#open ??= new OpenBatch(this.#origin!);
    return this.#open;
  }

  /** Counts a point or skip of the present file; false if an earlier run has finished it. */
  next(): boolean {
    this.#closeIfFull();
    return this.#things++ >= this.#finished;
  }

  skip(reason: SkipReason, place: number, message: string | null): void {
    this.open.skips.push({ origin: this.#origin!, place, reason, message });
  }

  fault(place: number | null, message: string): void {
    this.open.faults.push({ origin: this.#origin!, place, message });
  }

  /** Removes and returns the next finished batch. */
  take(): ImportBatch | null {
    this.#closeIfFull();
    return this.#ready.shift() ?? null;
  }

  /** Finishes the open batch, even if it is small. */
  flush(): void {
    const open = this.#open;
    this.#open = null;
    if (open === null || open.isEmpty) return;
    const { builder, ...contents } = open;
    const end = { source: this.#source, things: this.#things };
    const batch = builder.build();
    this.#ready.push({ group: this.#group, batch, ...contents, end });
  }

  #closeIfFull(): void {
    if (this.#open?.isFull) this.flush();
  }

  #setOrigin(origin: Origin): void {
    this.#origin = origin;
    this.#open?.beginFile(origin);
  }
}

/** A batch that is being filled. */
class OpenBatch {
  readonly builder = createReportBatchBuilder(BATCH_REPORTS_MAX);
  readonly places = new Float64Array(BATCH_REPORTS_MAX);
  readonly origins: { readonly fromRow: number; readonly origin: Origin }[] = [];
  readonly skips: Skip[] = [];
  readonly faults: Fault[] = [];
  readonly remarks = new Map<Remark, number>();
  readonly leftOut = new Map<string, number>();
  readonly unreadable = new Map<string, number>();

  constructor(origin: Origin) {
    this.beginFile(origin);
  }

  beginFile(origin: Origin): void {
    this.origins.push({ fromRow: this.builder.count, origin });
  }

  /** Skips and files count too, so that files of only skips are read in bounded memory. */
  get isFull(): boolean {
    return (
      this.builder.count + this.skips.length >= BATCH_REPORTS_MAX || this.origins.length >= BATCH_REPORTS_MAX
    );
  }

  get isEmpty(): boolean {
    const { builder, skips, faults, remarks, leftOut, unreadable } = this;
    const counts = remarks.size + leftOut.size + unreadable.size;
    return builder.count + skips.length + faults.length + counts === 0;
  }
}

export function countOne<Name>(counts: Map<Name, number>, name: Name): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
