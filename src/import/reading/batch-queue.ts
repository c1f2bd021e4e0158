import type { Remark, SkipReason } from "../../formats/read/file-point.ts";
import { BATCH_REPORTS_MAX, createReportBatchBuilder } from "../../model/report-batch.ts";
import type { Fault, ImportBatch, ImportPosition, Origin, Skip } from "./import-batch.ts";

/**
 * Puts what files are read into, one after the other, into batches. Small files share one. What an earlier run has
 * settled is counted and goes nowhere.
 */
export class BatchQueue {
  readonly #ready: ImportBatch[] = [];
  #open: OpenBatch | null = null;
  #group = 0;
  #source = 0;
  #things = 0;
  /** Of the source's things, those that an earlier run has settled. */
  #settled = 0;
  #origin: Origin | null = null;

  /** What follows is of another file. A batch holds no two groups of files, since they are counted apart. */
  begin(group: number, origin: Origin, { source, things }: ImportPosition): void {
    if (group !== this.#group) this.flush();
    this.#group = group;
    this.#source = source;
    this.#things = 0;
    this.#settled = things;
    this.#setOrigin(origin);
  }

  /** The file is settled, whatever it held. */
  end(): void {
    this.#source++;
    this.#things = 0;
    this.#settled = 0;
  }

  /** The batch to put the next thing into; another one than before where that was full. */
  get open(): OpenBatch {
    this.#open ??= new OpenBatch(this.#origin!);
    return this.#open;
  }

  /** Counts a thing of the file that comes now; false where it is settled already. */
  next(): boolean {
    this.#closeIfFull();
    return this.#things++ >= this.#settled;
  }

  skip(reason: SkipReason, place: number, message: string | null): void {
    this.open.skips.push({ origin: this.#origin!, place, reason, message });
  }

  fault(place: number | null, message: string): void {
    this.open.faults.push({ origin: this.#origin!, place, message });
  }

  /** The next batch that is full, or ended. */
  take(): ImportBatch | null {
    this.#closeIfFull();
    return this.#ready.shift() ?? null;
  }

  /** Ends the batch that is open, however little is in it. */
  flush(): void {
    const open = this.#open;
    this.#open = null;
    if (open === null || open.isEmpty) return;
    const { builder, ...found } = open;
    const end = { source: this.#source, things: this.#things };
    const batch = builder.build();
    this.#ready.push({ group: this.#group, batch, ...found, end });
  }

  #closeIfFull(): void {
    if (this.#open?.isFull) this.flush();
  }

  #setOrigin(origin: Origin): void {
    this.#origin = origin;
    this.#open?.beginFile(origin);
  }
}

/** A batch that things of files are put into. */
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

  /** Skips and files count too, so that those with nothing else are read in bounded memory. */
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
