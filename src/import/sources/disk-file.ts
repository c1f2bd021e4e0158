import { createHash } from "node:crypto";
import { basename, dirname } from "node:path";
import { FormatError } from "../../formats/read/format.ts";
import { messageOf } from "../../lib/message-of.ts";
import type { InputStat, Inputs, RandomInput } from "../../runtime/inputs.ts";
import { counted, piecesOf, type StoredFile } from "./source.ts";

/** Where a file lies, and whether the operator named it. */
export interface DiskPath {
  readonly path: string;
  /** The path for messages. */
  readonly label: string;
  readonly isNamed: boolean;
}

/** A file on the disk. It is opened for each read, up to the size that it has then. */
export function createDiskFile(
  inputs: Inputs,
  { path, label, isNamed }: DiskPath,
  stat: InputStat,
): StoredFile {
  const absolute = inputs.resolve(path);
  let identity: Promise<string> | null = null;

  async function* read(onRead: (bytesRead: number) => void): AsyncGenerator<Uint8Array> {
    let input: RandomInput | null = null;
    try {
      input = await inputs.open(path);
      yield* counted(piecesOf(input, 0, input.sizeBytes), onRead);
    } catch (cause) {
      throw new FormatError(messageOf(cause), { cause });
    } finally {
      await input?.close();
    }
  }

  return {
    name: basename(absolute),
    folders: dirname(absolute)
      .split("/")
      .filter((folder) => folder !== ""),
    key: label,
    label,
    isNamed,
    packedBytes: stat.sizeBytes,
    pieces: (onRead = () => {}) => read(onRead),
    identity() {
      identity ??= identityOf(inputs, absolute, stat);
      return identity;
    },
    openRandom: () => inputs.open(path),
  };
}

/** Shows which files were cut or joined: a log that grew has the same first bytes, but other last ones. */
const END_BYTES = 64 * 1024;

async function identityOf(inputs: Inputs, absolute: string, stat: InputStat): Promise<string> {
  const { sizeBytes, modifiedMs } = stat;
  const hash = createHash("sha256").update(JSON.stringify([absolute, sizeBytes, modifiedMs]));
  const input = await inputs.open(absolute);
  try {
    for (const position of [0, Math.max(0, input.sizeBytes - END_BYTES)]) {
      const bytes = new Uint8Array(END_BYTES);
      hash.update(bytes.subarray(0, await input.read(bytes, position)));
    }
  } finally {
    await input.close();
  }
  return hash.digest("hex");
}
