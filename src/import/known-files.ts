import { type Format, FormatError } from "../formats/read/format.ts";
import type { OwnFormat } from "../formats/read/own-formats.ts";
import type { ImportSource } from "./reading/read-sources.ts";
import type { Source, Sources } from "./sources/source.ts";

/** A file with its format. */
interface KnownFile {
  readonly key: string;
  readonly label: string;
  readonly format: Format | OwnFormat;
  readonly group: number;
  /** Bytes of all files before it. */
  readonly bytesBefore: number;
}

/** The files of an import that have positions, in the order of its walk. */
export class KnownFiles {
  readonly #files: KnownFile[] = [];
  readonly #keys = new Set<string>();
  /** Compressed bytes of all files; null if one is a pipe. */
  packedBytes: number | null = 0;

  add({ key, label, packedBytes }: Source, format: Format | OwnFormat, group: number): void {
    this.#files.push({ key, label, format, group, bytesBefore: this.packedBytes ?? 0 });
    this.#keys.add(key);
    this.packedBytes =
      this.packedBytes === null || packedBytes === null ? null : this.packedBytes + packedBytes;
  }

  /**
   * Yields the same files each time. A file that has gone or can't be read any more throws when it is read; a file that
   * was added since is left to the next import.
   */
  async *walk(sources: Sources): AsyncGenerator<ImportSource> {
    let next = 0;
    for await (const item of sources.walk()) {
      const { key } = item.kind === "file" ? item.source : item.where;
      const index = this.#keys.has(key) ? this.#indexOf(key, next) : null;
      if (index === null) continue;
      for (; next < index; next++) yield this.#gone(next, GONE);
      if (item.kind === "file") yield this.#source(next, item.source);
      else yield this.#gone(next, item.kind === "failed" ? item.reason : GONE);
      next++;
    }
    for (; next < this.#files.length; next++) yield this.#gone(next, GONE);
  }

  /** Finds a file from `start` on: it is the first there unless files have gone. Null if the file is new. */
  #indexOf(key: string, start: number): number | null {
    for (let index = start; index < this.#files.length; index++)
      if (this.#files[index]!.key === key) return index;
    return null;
  }

  #gone(index: number, reason: string): ImportSource {
    return this.#source(index, goneSource(this.#files[index]!, reason));
  }

  #source(index: number, source: Source): ImportSource {
    const { format, group, bytesBefore } = this.#files[index]!;
    return { source, format, group, index, bytesBefore };
  }
}

const GONE = "it was there when the import began, but it is gone";

/** A file that was readable when the import looked, but not any more when it is to be imported. */
function goneSource({ key, label }: Pick<Source, "key" | "label">, reason: string): Source {
  return {
    key,
    label,
    name: label,
    folders: [],
    isNamed: false,
    packedBytes: null,
    // biome-ignore lint/correctness/useYield: this generator only throws.
    async *pieces() {
      throw new FormatError(reason);
    },
    openRandom: () => Promise.reject(new FormatError(reason)),
    identity: async () => null,
  };
}
