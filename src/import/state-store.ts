import { dirname } from "node:path";
import { fail, ok, type Result } from "../lib/result.ts";
import { type Files, readIfThere } from "../runtime/files.ts";
import { encodeImportState, type ImportState, parseImportState } from "./state.ts";

/**
 * Keeps the state of one import in a file of its own, so that two imports at a time through a server don't
 * disturb each other. The file exists while the import is unfinished: a finished one needs none, since sending
 * a report again changes nothing, and the shift of `--shift-to-now` is the only one that its promise allows.
 */
export interface ImportStateStore {
  readonly path: string;
  /** Null where no such import was interrupted; fails with what is wrong with the file. */
  find(): Promise<Result<ImportState | null, string>>;
  replace(state: ImportState): Promise<void>;
  remove(): Promise<void>;
}

type StateFiles = Pick<Files, "read" | "exists" | "replace" | "remove" | "makeDirectory">;

export function createImportStateStore(files: StateFiles, path: string): ImportStateStore {
  return {
    path,
    async find() {
      const bytes = await readIfThere(files, path);
      if (bytes === null) return ok(null);
      const parsed = parseImportState(bytes);
      return parsed.ok
        ? parsed
        : fail(`The record of an interrupted import, "${path}", is no use: ${parsed.error}`);
    },
    async replace(state) {
      await files.makeDirectory(dirname(path));
      await files.replace(path, encodeImportState(state));
    },
    async remove() {
      if (await files.exists(path)) await files.remove(path);
    },
  };
}
