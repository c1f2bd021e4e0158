import { FormatError } from "../../formats/read/format-error.ts";
import type { Source } from "./source.ts";

/** A file that was there when an import looked, and can't be read any more when it is to be imported. */
export function goneSource({ key, label }: Pick<Source, "key" | "label">, reason: string): Source {
  return {
    key,
    label,
    name: label,
    folders: [],
    isNamed: false,
    packedBytes: null,
    // biome-ignore lint/correctness/useYield: there is nothing to give.
    async *pieces() {
      throw new FormatError(reason);
    },
    openRandom: () => Promise.reject(new FormatError(reason)),
    identity: async () => null,
  };
}
