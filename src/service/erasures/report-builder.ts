import { basename, join } from "node:path";
import type { HeldErasure } from "../../hot/erasures.ts";
import type { AppId } from "../../model/ids.ts";
import type { SealReport } from "../upkeep/seal/seal.ts";
import {
  ERASURE_PLACES,
  type ErasedFile,
  type ErasurePlace,
  type ErasureReport,
  type RemainingPlace,
} from "./states.ts";

/**
 * Collects what an erasure found and removed. A file that was written anew for several is in the report of each. It
 * names no file of other apps alone, and tells nothing about what of theirs was erased.
 */
export class ReportBuilder {
  readonly #sequence: number;
  readonly #appId: AppId;
  readonly #places = new Map<ErasurePlace, Counts>();
  #remains: RemainingPlace[] = [];

  constructor({ sequence, appId }: Pick<HeldErasure, "sequence" | "appId">) {
    this.#sequence = sequence;
    this.#appId = appId;
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
    for (const { path, apps, erased: counts, before, after } of erased?.log?.rewritten ?? []) {
      if (!apps.has(this.#appId)) continue;
      const file = { file: join("wal", basename(path)), before: before.crc, after: after.crc };
      this.add("log", counts.get(this.#sequence) ?? 0, before.bytes, [file]);
    }
    for (const { file, bySequence, bytesBefore, crcBefore, crcAfter } of erased?.files ?? []) {
      const records = bySequence.get(this.#sequence);
      if (records === undefined) continue;
      const names = { file: join("archive", file), before: crcBefore, after: crcAfter };
      this.add("archive", records, bytesBefore, [names]);
    }
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
