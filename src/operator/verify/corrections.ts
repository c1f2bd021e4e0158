import { createHash } from "node:crypto";
import { Corrections } from "../../hot/hidden/corrections.ts";
import type { CorrectionsOfApp, HeldCorrection } from "../../hot/hidden/held-correction.ts";
import { compareUtf8 } from "../../lib/text/utf8.ts";
import type { CorrectionEntry } from "../../model/correction-entry.ts";

/** One app's corrections. */
export interface AppCorrections {
  readonly app: string;
  readonly active: number;
  readonly undone: number;
  /** Records that active corrections touch. */
  readonly records: number;
  /** SHA-256 over a line of JSON for each correction, in the order in which they were made. */
  readonly sha256: string;
}

/** The corrections of a directory. They are read beside the records, which are verified as they were reported. */
export class VerifiedCorrections {
  readonly #corrections = new Corrections();

  restore(entry: CorrectionEntry): void {
    this.#corrections.restore(entry);
  }

  endRestore(sequence: number): void {
    this.#corrections.endRestore(sequence);
  }

  /** Applies an entry of the log. */
  apply(entry: CorrectionEntry, sequence: number): void {
    const effect = this.#corrections.apply(entry, sequence);
    if (effect !== null) this.#corrections.commit(effect, sequence);
  }

  /**
   * Sums of each app, by its id. Instants before `startMs` are not hashed, because each node drops expired ones when it
   * seals. Appends disagreements to `problems`, a line each.
   */
  report(startMs: number, problems: string[]): AppCorrections[] {
    const apps = [...this.#corrections.apps()].filter(([, { byId }]) => byId.size > 0);
    return apps
      .sort(([a], [b]) => compareUtf8(a, b))
      .map(([app, ofApp]) => {
        for (const item of ofApp.byId.values())
          if (!fits(item))
            problems.push(`Correction ${item.correction.id} of ${app} has other records than it says`);
        return { app, ...sumsOf(ofApp), sha256: hashOf(ofApp, startMs) };
      });
  }
}

function sumsOf({ byId, active, records }: CorrectionsOfApp) {
  return { active, undone: byId.size - active, records };
}

function hashOf({ byId }: CorrectionsOfApp, startMs: number): string {
  const hash = createHash("sha256");
  for (const { correction, number, isActive, timestampMs } of byId.values()) {
    const times = timestampMs.filter((timeMs) => timeMs >= startMs);
    hash.update(`${JSON.stringify([number, isActive, correction])}\n`);
    hash.update(new Uint8Array(times.buffer, times.byteOffset, times.byteLength));
  }
  return hash.digest("hex");
}

/** Whether a correction's instants are those that it counted. Expired ones may be missing. */
function fits({ correction: { records, firstMs, lastMs }, timestampMs }: HeldCorrection): boolean {
  if (timestampMs.length === 0) return true;
  return timestampMs.length <= records && timestampMs[0]! >= firstMs && timestampMs.at(-1)! === lastMs;
}
