import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { FilePoint, Remark, SkipReason } from "../../../src/formats/read/file-point.ts";
import {
  type Content,
  type Format,
  FormatError,
  NO_READ_OPTIONS,
  type ReadOptions,
} from "../../../src/formats/read/format.ts";
import { textPieces } from "../../../src/formats/read/text-pieces.ts";

/** The points and skips of a file. */
export interface Findings {
  readonly points: FilePoint[];
  /** The place of each point. */
  readonly places: number[];
  readonly skips: Partial<Record<SkipReason, number>>;
  /** The place of each skip. */
  readonly skipPlaces: number[];
  readonly remarks: Partial<Record<Remark, number>>;
  /** Why the rest can't be read; null if the file was read to its end. */
  readonly error: FormatError | null;
}

export const SAMPLES = join(import.meta.dirname, "../../data/samples");

/** A file in memory, which arrives in chunks of a given size. */
export function contentOf(
  bytes: Uint8Array | string,
  { name = "file", folders = [] as readonly string[], pieceBytes = 256 * 1024 } = {},
): Content {
  const whole = typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes;
  async function* pieces() {
    for (let at = 0; at < whole.length; at += pieceBytes) yield whole.slice(at, at + pieceBytes);
  }
  return {
    name,
    folders,
    pieces: () => textPieces(pieces()),
    async openRandom() {
      const directory = mkdtempSync(join(tmpdir(), "content-"));
      const path = join(directory, "content");
      writeFileSync(path, whole);
      return { path, sizeBytes: whole.length, close: async () => rmSync(directory, { recursive: true }) };
    },
  };
}

/** Reads a sample, such as `google/Records.json`. */
export function sampleContent(path: string, pieceBytes?: number): Content {
  return contentOf(readFileSync(join(SAMPLES, path)), {
    name: basename(path),
    folders: path.split("/").slice(0, -1),
    ...(pieceBytes === undefined ? {} : { pieceBytes }),
  });
}

/** Reads a whole file; other errors than a `FormatError` are thrown. */
export async function readWhole(
  format: Format,
  content: Content,
  options: Partial<ReadOptions> = {},
): Promise<Findings> {
  const findings = { points: [], places: [], skips: {}, skipPlaces: [], remarks: {}, error: null } as {
    -readonly [Name in keyof Findings]: Findings[Name];
  };
  const count = <Key extends string>(counts: Partial<Record<Key, number>>, key: Key) => {
    counts[key] = (counts[key] ?? 0) + 1;
  };
  const reading = format.read(
    content,
    {
      add: (point) => {
        findings.points.push(point);
        findings.places.push(reading.place);
      },
      skip: (reason) => {
        count(findings.skips, reason);
        findings.skipPlaces.push(reading.place);
      },
      note: (remark) => count(findings.remarks, remark),
    },
    { ...NO_READ_OPTIONS, ...options },
  );
  try {
    for await (const _ of reading);
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    findings.error = error;
  }
  return findings;
}
