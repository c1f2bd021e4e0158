import { compareUtf8 } from "../../lib/text/utf8.ts";
import type { AppId, DeviceId } from "../../model/ids.ts";
import type { TimeRange } from "../../model/time/range.ts";
import { CHUNKS_A_GROUP, COLUMN_INDEXES, type FileChunks, type RowGroup } from "./part-footer.ts";

/** What a statement looks for by the columns that files are sorted by. */
export interface ScanKeys {
  readonly appId: AppId;
  readonly deviceId: DeviceId | null;
  readonly range: TimeRange;
}

/** Adds up what the statements of a session read, each column chunk once. */
export class ScannedBytes {
  #sum = 0;
  readonly #seen = new Map<FileChunks, Uint8Array>();

  get sum(): number {
    return this.#sum;
  }

  add(chunks: FileChunks, keys: ScanKeys, columns: readonly string[]): void {
    const { rowGroups, bytes } = chunks;
    let seen = this.#seen.get(chunks);
    if (seen === undefined) {
      seen = new Uint8Array(bytes.length);
      this.#seen.set(chunks, seen);
    }
    const indexes = columns.map((name) => COLUMN_INDEXES.get(name)!);
    for (let group = 0; group < rowGroups.length; group++) {
      if (!mayHold(rowGroups[group]!, keys)) continue;
      for (const index of indexes) {
        const chunk = group * CHUNKS_A_GROUP + index;
        if (seen[chunk] === 1) continue;
        seen[chunk] = 1;
        this.#sum += bytes[chunk]!;
      }
    }
  }
}

/** Whether a row group may have what is looked for. Bounds that a file lacks rule nothing out. */
export function mayHold(group: Readonly<RowGroup>, { appId, deviceId, range }: ScanKeys): boolean {
  if (group.lastMs < range.startMs || group.startMs >= range.endMs) return false;
  if (!mayLieWithin(appId, group.appMin, group.appMax)) return false;
  return deviceId === null || mayLieWithin(deviceId, group.deviceMin, group.deviceMax);
}

function mayLieWithin(text: string, min: string | null, max: string | null): boolean {
  if (min !== null && compareUtf8(text, min) < 0) return false;
  return max === null || compareUtf8(text, max) <= 0;
}
