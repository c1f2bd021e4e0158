import { basename, join } from "node:path";
import type { SealReport } from "../upkeep/seal/seal.ts";
import {
  ERASURE_PLACES,
  type ErasedFile,
  type ErasurePlace,
  type ErasureReport,
  type RemainingPlace,
} from "./states.ts";

/** Collects what an erasure found and removed. A file that was written anew for several is in the report of each. */
export class ReportBuilder {
  readonly #sequence: number;
  readonly #places = new Map<ErasurePlace, Counts>();
  #remains: RemainingPlace[] = [];

  /** `sequence` is the erasure's entry of the log. */
  constructor(sequence: number) {
    this.#sequence = sequence;
  }

  add(place: ErasurePlace, removed: number, bytes = 0, files: readonly ErasedFile[] = []): void {
    const counts = this.#places.get(place) ?? { removed: 0, bytes: 0, files: [] };
    this.#places.set(place, counts);
    counts.removed += removed;
    counts.bytes += bytes;
    counts.files.push(...files);
  }

  addRemaining(where: string, why: string, untilMs: number | null = null): void {
    this.#remains = [...this.#remains.filter((known) => known.where !== where), { where, why, untilMs }];
  }

  /** Adds what a seal rewrote. */
  addSeal({ erased }: SealReport): void {
    for (const { path, erased: counts, before, after } of erased?.log?.rewritten ?? []) {
      const file = { file: join("wal", basename(path)), before: before.crc, after: after.crc };
      this.add("log", counts.get(this.#sequence) ?? 0, before.bytes, [file]);
    }
    const files = (erased?.files ?? []).map(({ file, crcBefore, crcAfter }) => ({
      ...{ file: join("archive", file), before: crcBefore, after: crcAfter },
    }));
    this.add("archive", erased?.bySequence.get(this.#sequence) ?? 0, erased?.bytes ?? 0, files);
    const messages = erased?.log?.held ?? null;
    if (messages !== null)
      this.addRemaining(
        `stream ${messages.stream}`,
        "messages of the stream stay until all nodes have archived what is in them; one that is away holds them until " +
          "its --node-timeout is over",
        messages.untilMs,
      );
    for (const path of erased?.log?.unsearched ?? [])
      this.addRemaining(
        join("wal", basename(path)),
        "the segment of the log can't be read whole, so it was not searched",
      );
  }

  build(): ErasureReport {
    const places = ERASURE_PLACES.map((place) => ({
      place,
      ...(this.#places.get(place) ?? { removed: 0, bytes: 0, files: [] }),
    }));
    return { places, remains: this.#remains };
  }
}

interface Counts {
  removed: number;
  bytes: number;
  readonly files: ErasedFile[];
}
