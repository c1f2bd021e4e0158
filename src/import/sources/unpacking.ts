import { FormatError } from "../../formats/read/format.ts";
import type { Compression } from "../../lib/bytes/unzstd.ts";
import { FileError } from "../../runtime/files.ts";
import type { Inputs, RandomInput } from "../../runtime/inputs.ts";
import { KMZ_EXTRA, leftAloneByName, OFFICE } from "./left-alone.ts";
import type { SourceItem, StoredFile } from "./source.ts";
import { createUnpackedFile, type UnpackBudget } from "./unpacked-file.ts";
import { zipEntries } from "./zip-directory.ts";
import { createZippedFile, whereaboutsOf } from "./zip-file.ts";

/** Finds the files in archives and compressed files. */
export interface Unpacking {
  look(file: StoredFile): AsyncGenerator<SourceItem>;
}

/** Levels of archives: an archive, and one in it, such as a year's zip in the zip of all years. */
const ARCHIVES_MAX = 2;

/** Archives within one. Each takes a file on the disk and a millisecond, and no history has a thousand years. */
const NESTED_MAX = 1000;

export function createUnpacking(inputs: Inputs, spoolDirectory: string, budget: UnpackBudget): Unpacking {
  async function spool(pieces: AsyncIterable<Uint8Array>): Promise<RandomInput> {
    const room = await inputs.openSpool(spoolDirectory);
    try {
      for await (const piece of pieces) await room.append(piece);
      return room;
    } catch (error) {
      await room.close();
      throw error;
    }
  }

  async function* look(
    file: StoredFile,
    archives: number,
    isUnpacked: boolean,
    nested: { count: number },
  ): AsyncGenerator<SourceItem> {
    const compression = await compressionOf(file).catch(readFailure);
    if (compression instanceof FormatError) {
      yield { kind: "failed", where: file, reason: compression.message };
    } else if (compression === null) {
      yield { kind: "file", source: file };
    } else if (compression === "zip" && archives > 0 && ++nested.count > NESTED_MAX) {
      yield { kind: "failed", where: file, reason: `its archive holds more than ${NESTED_MAX} archives` };
    } else if (compression === "zip" && archives < ARCHIVES_MAX) {
      yield* walkArchive(file, archives + 1, nested);
    } else if (compression !== "zip" && !isUnpacked) {
      yield* look(createUnpackedFile(file, compression, budget, spool), archives, true, nested);
    } else {
      yield { kind: "failed", where: file, reason: "it is packed too many times over: unpack it once" };
    }
  }

  async function* walkArchive(
    file: StoredFile,
    archives: number,
    nested: { count: number },
  ): AsyncGenerator<SourceItem> {
    const input = await file.openRandom().catch(readFailure);
    if (input instanceof FormatError) {
      yield { kind: "failed", where: file, reason: input.message };
      return;
    }
    try {
      const archive = { file, input };
      const leaveAlone = isKmz(file) ? firstKmlOnly() : leftAloneByName;
      for await (const entry of zipEntries(input)) {
        if (entry.index === 0 && OFFICE_ENTRIES.includes(entry.path)) {
          yield { kind: "left_alone", where: file, what: OFFICE };
          return;
        }
        const where = whereaboutsOf(file, entry);
        const zipped = createZippedFile(archive, entry, budget, spool);
        const what = leaveAlone(zipped.name, zipped.folders);
        if (what !== null) yield { kind: "left_alone", where, what };
        else if (entry.fault !== null) yield { kind: "failed", where, reason: entry.fault };
        else yield* look(isKmz(file) ? namedAfter(file, zipped) : zipped, archives, false, nested);
      }
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      yield { kind: "failed", where: file, reason: error.message };
    } finally {
      await input.close();
    }
  }

  return { look: (file) => look(file, 0, false, { count: 0 }) };
}

/** The first entry of documents that are zip archives: of Office, and of OpenDocument and EPUB. */
const OFFICE_ENTRIES = ["[Content_Types].xml", "mimetype"];

/** A KMZ's own name tells whose track it is, because its KML is mostly called doc.kml. */
function isKmz(file: StoredFile): boolean {
  return file.name.toLowerCase().endsWith(".kmz");
}

/** The first KML is the document; the others are what it links to. */
function firstKmlOnly(): typeof leftAloneByName {
  let hasKml = false;
  return (name) => {
    if (hasKml || !name.toLowerCase().endsWith(".kml")) return KMZ_EXTRA;
    hasKml = true;
    return null;
  };
}

function namedAfter(kmz: StoredFile, kml: StoredFile): StoredFile {
  return { ...kml, name: kmz.name.replace(/\.kmz$/i, ".kml") };
}

const MAGIC: readonly (readonly [Compression | "zip", readonly number[]])[] = [
  ["gzip", [0x1f, 0x8b]],
  ["zstd", [0x28, 0xb5, 0x2f, 0xfd]],
  ["zip", [0x50, 0x4b, 0x03, 0x04]],
  ["zip", [0x50, 0x4b, 0x05, 0x06]], // One without files.
];

/** The compression by the first bytes, whatever the name; null if there is none. */
async function compressionOf(file: StoredFile): Promise<Compression | "zip" | null> {
  let first: Uint8Array = new Uint8Array(0);
  for await (const piece of file.pieces()) {
    first = first.length === 0 ? piece : Uint8Array.of(...first, ...piece.subarray(0, MAGIC_BYTES));
    if (first.length >= MAGIC_BYTES) break;
  }
  const match = MAGIC.find(([, magic]) => magic.every((byte, at) => first[at] === byte));
  return match?.[0] ?? null;
}

const MAGIC_BYTES = 4;

/** An error that is reported to the operator; a bug is thrown again. */
function readFailure(error: unknown): FormatError {
  if (error instanceof FormatError) return error;
  if (error instanceof FileError) return new FormatError(error.message, { cause: error });
  throw error;
}
