import { crc32 } from "node:zlib";
import { parseDayFolder } from "../../../../src/archive/archive-files.ts";
import { type Manifest, parseManifest } from "../../../../src/archive/manifest.ts";
import { FRAME_SALT_BYTES } from "../../../../src/lib/frames/frame.ts";
import type { UtcDay } from "../../../../src/model/time/utc-day.ts";
import type { Draws } from "../run/draws.ts";
import type { PartRecord, SimulationEngine } from "../run/engine.ts";
import { ARCHIVE_DIRECTORY, DAMAGED_DIRECTORY } from "../run/service.ts";
import type { RunDisk } from "./disk.ts";
import { findFrames, isSegment, type LogFrame } from "./log-frames.ts";

/** A byte that changed while the directory was closed, and what its file held. */
export type Flip = { readonly path: string; readonly offset: number } & (
  | { readonly kind: "log"; readonly frame: LogFrame | null }
  | { readonly kind: "part"; readonly part: HeldByPart }
  | { readonly kind: "checkpoint" | "manifest" | "acknowledged" }
);

/** Which records a part of a day holds, up to which entry of the log. */
export interface HeldByPart {
  /** Its place under the archive's directory. */
  readonly file: string;
  readonly day: UtcDay;
  readonly records: readonly PartRecord[];
  readonly sequence: number;
}

export const MANIFEST = `${ARCHIVE_DIRECTORY}/manifest.json`;
const ACKNOWLEDGED = `${DAMAGED_DIRECTORY}/acknowledged.json`;

type FileKind = Flip["kind"];
const WEIGHTS: Readonly<Record<FileKind, number>> = {
  log: 4,
  part: 4,
  checkpoint: 2,
  manifest: 2,
  acknowledged: 1,
};

export interface FlipOptions {
  readonly disk: RunDisk;
  readonly engine: SimulationEngine;
  readonly draws: Draws;
  /** Files that were flipped before. */
  readonly flipped: ReadonlySet<string>;
  /** Makes the changed frame check out again, as no disk does: the model must notice. */
  readonly forgesChecksums: boolean;
}

/** Flips a byte of a file that is drawn; null where there is none to flip. */
export async function flipByte({
  disk,
  engine,
  draws,
  flipped,
  forgesChecksums,
}: FlipOptions): Promise<Flip | null> {
  const contents = disk.contents();
  const files = [...contents.keys()]
    .filter((path) => !flipped.has(path) && contents.get(path)!.length > 0)
    .map((path) => ({ path, kind: kindOf(path) }))
    .filter(({ kind }) => kind !== null && !isBeyondTelling(kind, contents, flipped));
  const kinds = Object.fromEntries(
    Object.entries(WEIGHTS).filter(([name]) => files.some(({ kind }) => kind === name)),
  ) as Record<FileKind, number>;
  if (files.length === 0) return null;
  const kind = draws.weighted(kinds);
  const { path } = draws.pick(files.filter((file) => file.kind === kind));
  const before = contents.get(path)!;
  const offset = drawOffset(path, kind, before, draws);
  if (kind === "acknowledged" && isVersion(before, offset)) return null;
  const bytes = before.slice();
  bytes[offset]! ^= 1 << draws.between(0, 7);
  const flip = await describe(path, kind, offset, contents, engine);
  if (flip === null) return null;
  if (forgesChecksums && flip.kind === "log" && flip.frame !== null) forgeChecksum(bytes, flip.frame);
  disk.damage(path, bytes);
  return flip;
}

/** A segment is mostly its head: one flip in four hits any byte of it, the others its frames. */
function drawOffset(path: string, kind: FileKind, bytes: Uint8Array, draws: Draws): number {
  const frames = kind === "log" ? findFrames(new Map([[path, bytes]])) : [];
  const { start, end } = frames.length > 0 && draws.chance(0.75) ? draws.pick(frames) : WHOLE;
  return draws.between(start, Math.min(end, bytes.length) - 1);
}

const WHOLE = { start: 0, end: Number.POSITIVE_INFINITY };

function kindOf(path: string): FileKind | null {
  if (isSegment(path)) return "log";
  if (path === MANIFEST) return "manifest";
  if (path === ACKNOWLEDGED) return "acknowledged";
  if (!path.startsWith(`${ARCHIVE_DIRECTORY}/`) || !path.endsWith(".parquet")) return null;
  return dayOf(path) === null ? "checkpoint" : "part";
}

/** Whether it is a part of a day, wherever it lies in the archive. */
export function isPart(path: string): boolean {
  return kindOf(path) === "part";
}

/** With the manifest the archive loses the checksums of its parts, so a part that flipped can't be told any more. */
function isBeyondTelling(
  kind: FileKind | null,
  contents: ReadonlyMap<string, Uint8Array>,
  flipped: ReadonlySet<string>,
): boolean {
  const isThere = (path: string) => flipped.has(path) && contents.has(path);
  if (kind === "manifest") return [...contents.keys()].some((path) => isThere(path) && isPart(path));
  return kind === "part" && isThere(MANIFEST);
}

/** Nobody can tell a file whose version flipped from one of a newer program, which is to be left alone. */
function isVersion(bytes: Uint8Array, offset: number): boolean {
  const text = new TextDecoder().decode(bytes);
  const at = text.indexOf('"version"');
  return at >= 0 && offset >= at && offset < at + 14;
}

async function describe(
  path: string,
  kind: FileKind,
  offset: number,
  contents: ReadonlyMap<string, Uint8Array>,
  engine: SimulationEngine,
): Promise<Flip | null> {
  if (kind === "log") {
    const frames = findFrames(contents);
    const frame = frames.find((each) => each.path === path && offset >= each.start && offset < each.end);
    return { path, offset, kind, frame: frame ?? null };
  }
  if (kind !== "part") return { path, offset, kind };
  const part = await heldByPart(path, contents, engine);
  return part === null ? null : { path, offset, kind, part };
}

/** What a part holds; null where that can't be told, so that nothing can be expected of it. */
export async function heldByPart(
  path: string,
  contents: ReadonlyMap<string, Uint8Array>,
  engine: SimulationEngine,
): Promise<HeldByPart | null> {
  const day = dayOf(path);
  const manifest = manifestOf(contents);
  if (day === null || manifest === null) return null;
  const place = path.slice(ARCHIVE_DIRECTORY.length + 1);
  try {
    return {
      file: place.replace(/^expired\/\d+\//, ""),
      day,
      records: await engine.recordsOf(contents.get(path)!),
      sequence: (manifest.days.get(day) ?? manifest.expired.get(day))?.sequence ?? manifest.lastSequence,
    };
  } catch {
    return null; // It never was whole: what a crash left of a seal.
  }
}

/** The manifest that a disk has; null where it has none that can be read. */
export function manifestOf(contents: ReadonlyMap<string, Uint8Array>): Manifest | null {
  const bytes = contents.get(MANIFEST);
  const parsed = bytes === undefined ? null : parseManifest(bytes);
  return parsed?.ok ? parsed.value : null;
}

function dayOf(path: string): UtcDay | null {
  const folder = path.split("/").find((name) => parseDayFolder(name) !== null);
  return folder === undefined ? null : parseDayFolder(folder);
}

function forgeChecksum(bytes: Uint8Array, { start, end }: LogFrame): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const saltCrc = crc32(bytes.subarray(start, start + FRAME_SALT_BYTES));
  view.setUint32(start + 8, crc32(bytes.subarray(start + 12, end), saltCrc), true);
}
