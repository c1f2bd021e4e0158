import { crc32 } from "node:zlib";
import { isObject } from "../lib/is-object.ts";
import { fail, ok, type Result } from "../lib/result.ts";
import { parseVersionedJson } from "../lib/text/versioned-json.ts";
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
