import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import { isObject } from "../lib/is-object.ts";
import { fail, ok, type Result } from "../lib/result.ts";
import { parseVersionedJson } from "../lib/text/versioned-json.ts";
import { type Files, readIfThere } from "../runtime/files.ts";
import type { ImportPosition } from "./reading/import-batch.ts";
import type { TallySoFar } from "./tally/tally.ts";

/** What has to be known to go on with an interrupted import. */
export interface ImportState {
  /** As the log of imports has it. */
  readonly id: string;
  readonly startedMs: number;
  /** What the target was set to keep, as the files were last compared with it. */
  readonly retention: string;
  /** By source, what is added to every timestamp, the same to the end; the same for all where there is but one. */
  readonly shiftsMs: readonly number[];
  /** All that lies before is acknowledged. */
  readonly position: ImportPosition;
  /** By group of files. */
  readonly tallies: readonly TallySoFar[];
  /** How much of the report of skips belongs to that. */
  readonly reportBytes: number;
}

/** Version of the file's format. A file of another one is left alone. */
const FORMAT_VERSION = 4;

/** {"version": 4, "crc": ..., "state": {...}}: the checksum is of the JSON text of `state`, as in the manifest. */
export function encodeImportState(state: ImportState): Uint8Array {
  const text = JSON.stringify(state);
  return new TextEncoder().encode(`{"version":${FORMAT_VERSION},"crc":${crc32(text)},"state":${text}}\n`);
}

/** The state, or what is wrong with it. What the checksum admits is ours. */
export function parseImportState(bytes: Uint8Array): Result<ImportState, string> {
  const content = parseVersionedJson(bytes, FORMAT_VERSION);
  if (!content.ok) return content;
  const { crc, state } = content.value;
  const isOurs = isObject(state) && crc32(JSON.stringify(state)) === crc;
  return isOurs ? ok(state as unknown as ImportState) : fail("its checksum is wrong");
}

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
