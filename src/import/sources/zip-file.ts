import { createHash } from "node:crypto";
import { pipeline, Readable } from "node:stream";
import { crc32, createInflateRaw } from "node:zlib";
import { FormatError } from "../../formats/read/format.ts";
import { unzstd } from "../../lib/bytes/unzstd.ts";
import { messageOf } from "../../lib/message-of.ts";
import type { RandomInput } from "../../runtime/inputs.ts";
import { counted, PIECE_BYTES, piecesOf, type StoredFile, type Whereabouts } from "./source.ts";
import { ANY_NUMBER, type UnpackBudget } from "./unpacked-file.ts";
import { dataPosition, STORED, type ZipEntry, ZSTANDARD } from "./zip-directory.ts";

/** A zip archive during its walk. */
export interface OpenArchive {
  readonly file: StoredFile;
  readonly input: RandomInput;
}

/** A file in a zip archive, valid while the archive is open. `spool` writes it to disk for random access. */
export function createZippedFile(
  archive: OpenArchive,
  entry: ZipEntry,
  budget: UnpackBudget,
  spool: (pieces: AsyncIterable<Uint8Array>) => Promise<RandomInput>,
): StoredFile {
  const account = budget.open();
  const folders = entry.path.split("/");
  const name = folders.pop() ?? "";

  async function* read(onRead: (packedBytesRead: number) => void): AsyncGenerator<Uint8Array> {
    let packedBytesRead = 0;
    try {
      const start = await dataPosition(archive.input, entry);
      const packed = counted(piecesOf(archive.input, start, start + entry.packedBytes), (bytesRead) => {
        packedBytesRead = bytesRead;
        onRead(bytesRead);
      });
      const unpacked = account.bounded(unpack(packed, entry.method), () => packedBytesRead);
      yield* checked(unpacked, entry);
    } catch (cause) {
      if (cause instanceof FormatError) throw cause;
      throw new FormatError(`it is damaged in its archive (${messageOf(cause)})`, { cause });
    }
  }

  return {
    name,
    folders: folders.filter((folder) => folder !== "" && folder !== "."),
    ...whereaboutsOf(archive.file, entry),
    pieces: (onRead = () => {}) => read(onRead),
    async identity() {
      const outer = await archive.file.identity();
      if (outer === null) return null;
      const { index, path, crc32 } = entry;
      return createHash("sha256")
        .update(JSON.stringify([outer, index, path, crc32]))
        .digest("hex");
    },
    openRandom: () => spool(read(() => {})),
  };
}

export function whereaboutsOf(archive: StoredFile, { index, path, packedBytes }: ZipEntry): Whereabouts {
  const [key, label] = [`${archive.key} › ${index}`, `${archive.label} › ${path}`];
  return { key, label, isNamed: false, packedBytes };
}

function unpack(packed: AsyncIterable<Uint8Array>, method: number): AsyncIterable<Uint8Array> {
  if (method === STORED) return packed;
  if (method === ZSTANDARD) return unzstd(packed, ANY_NUMBER);
  return pipeline(Readable.from(packed), createInflateRaw({ chunkSize: PIECE_BYTES }), () => undefined);
}

/** Passes the pieces on; throws a `FormatError` if size or checksum differ from the archive's directory. */
async function* checked(unpacked: AsyncIterable<Uint8Array>, entry: ZipEntry): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  let crc = 0;
  for await (const piece of unpacked) {
    bytes += piece.length;
    crc = crc32(piece, crc);
    yield piece;
  }
  if (bytes !== entry.unpackedBytes)
    throw new FormatError(`it has ${bytes} bytes, and its archive says ${entry.unpackedBytes}`);
  if (crc !== entry.crc32) throw new FormatError("its checksum is wrong: it is damaged in its archive");
}
