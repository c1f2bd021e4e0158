import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import { isObject } from "../lib/is-object.ts";
import { fail, ok, type Result } from "../lib/result.ts";
import { parseVersionedJson } from "../lib/text/versioned-json.ts";
import { type Files, readIfThere } from "../runtime/files.ts";
import type { ImportPosition } from "./reading/import-batch.ts";
import type { TallySoFar } from "./tally/tally.ts";

/** Everything needed to continue an interrupted import. */
export interface ImportState {
  /** Its id in the log of imports. */
  readonly id: string;
  readonly startedMs: number;
  /** The target's retention when the files were last compared with it. */
  readonly retention: string;
  /** By source, what is added to every timestamp, constant to the end; a single value applies to all sources. */
  readonly shiftsMs: readonly number[];
  /** Everything before it is acknowledged. */
  readonly position: ImportPosition;
  readonly tallies: readonly TallySoFar[];
  /** Bytes of the report of skips that belong to this state. */
  readonly reportBytes: number;
}

/** Version of the file's format. A file of another version is ignored. */
const FORMAT_VERSION = 4;

/** {"version": 4, "crc": ..., "state": {...}}: as in the manifest, the checksum covers the JSON text of `state`. */
export function encodeImportState(state: ImportState): Uint8Array {
  const text = JSON.stringify(state);
  return new TextEncoder().encode(`{"version":${FORMAT_VERSION},"crc":${crc32(text)},"state":${text}}\n`);
}

/** The state, or what is wrong with it. Content with a good checksum is trusted. */
export function parseImportState(bytes: Uint8Array): Result<ImportState, string> {
  const content = parseVersionedJson(bytes, FORMAT_VERSION);
  if (!content.ok) return content;
  const { crc, state } = content.value;
  const isOurs = isObject(state) && crc32(JSON.stringify(state)) === crc;
  return isOurs ? ok(state as unknown as ImportState) : fail("its checksum is wrong");
}

/**
 * Stores the state of one import in its own file, so that two concurrent imports through a server don't interfere. The
 * file exists only while the import is unfinished: repeating a finished one changes nothing, because a report that is
 * sent again has no effect, and the shift of `--shift-to-now` is the only one that its promise allows.
 */
export interface ImportStateStore {
  readonly path: string;
  /** Null if no such import was interrupted; fails with what is wrong with the file. */
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
