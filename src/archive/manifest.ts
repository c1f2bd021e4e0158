import { crc32 } from "node:zlib";
import { fail, ok, type Result } from "../lib/result.ts";
import { FormatVersionError } from "../lib/text/versioned-json.ts";
import type { AppId } from "../model/ids.ts";
import { DEFAULT_RETENTION, FixedRetention, type Retention } from "../model/time/retention.ts";
import { parseUtcDayName, type UtcDay, utcDayName } from "../model/time/utc-day.ts";
import { type Files, readIfThere } from "../runtime/files.ts";
import { archivePaths, listPartFiles } from "./archive-files.ts";
import { COLUMNS_MARK } from "./columns.ts";

/** What is sealed, and where it is. Replaced as a whole, so that a seal happens at one instant or not at all. */
export interface Manifest {
  /** Counts seals; the next one's files are named by the next number. */
  readonly seal: number;
  /** No entry of the log below or at it may come again: days claim to cover it. */
  readonly lastSequence: number;
  /** Sealed days, the oldest first. */
  readonly days: ReadonlyMap<UtcDay, SealedDay>;
  /** The newest sealed record of every device; null before the first seal. */
  readonly latest: readonly Part[] | null;
  /**
   * Days past the retention: their files are where they were until they are deleted, so that a clock that is set back
   * finds them. Retention is by the clock of each answer, so while it says that a day has not expired the day is shown.
   */
  readonly expired: ReadonlyMap<UtcDay, ExpiredDay>;
  /** What the last seal went by, as `365d`, in case the setting is lost; null if it is not known. */
  readonly retention: string | null;
}

export interface SealedDay {
  /** Every report of the day in entries of the log up to this one is in the parts. */
  readonly sequence: number;
  /** Parts share no record. */
  readonly parts: readonly Part[];
  /** Parts whose loss an operator has acknowledged: answers go without them, and say so. */
  readonly lost: readonly Part[];
}

export interface ExpiredDay extends SealedDay {
  /** When it was found to be expired, and after that when its files were deleted, Unix ms. */
  readonly sinceMs: number;
}

/** One Parquet file, as it was written. */
export interface Part {
  /** Its path under the archive directory, with `/`. */
  readonly file: string;
  readonly rows: number;
  readonly bytes: number;
  /** CRC-32 of the whole file. */
  readonly crc: number;
  /** Rows by app. */
  readonly apps: ReadonlyMap<AppId, number>;
  /** Which columns it has, as `columnsMark`. */
  readonly columns: string;
}

/** Whether any part lacks a column that this program knows: statements over such parts are slower. */
export function hasOldParts(parts: readonly Part[]): boolean {
  return parts.some(({ columns }) => columns !== COLUMNS_MARK);
}

/** What is sealed of a day, be it expired or not. */
export function findSealed({ days, expired }: Manifest, day: UtcDay): SealedDay | undefined {
  return days.get(day) ?? expired.get(day);
}

/** Parts of some days that have records of the app. */
export function partsOfApp(manifest: Manifest, appId: AppId, days: readonly UtcDay[]): Part[] {
  return days.flatMap((day) => findSealed(manifest, day)?.parts.filter(({ apps }) => apps.has(appId)) ?? []);
}

export const EMPTY_MANIFEST: Manifest = {
  seal: 0,
  lastSequence: 0,
  days: new Map(),
  latest: null,
  expired: new Map(),
  retention: null,
};

const FORMAT_VERSION = 2;

/*
 * {"version": 2, "crc": ..., "manifest": {...}}: the checksum is of the version and of the JSON text of `manifest` as
 * this program writes it, so that a bit that flipped in a number is noticed. Each version has another checksum, so that
 * a bit that flipped in the version is noticed too, and passes for no other program's file.
 */
export function checksumOf(text: string): number {
  return crc32(`${FORMAT_VERSION}\n${text}`);
}

export function encodeManifest(manifest: Manifest): Uint8Array {
  const { seal, lastSequence, days, latest, expired, retention } = manifest;
  const body = {
    seal,
    lastSequence,
    days: [...days].sort(byDay).map(([day, sealed]) => ({ day: utcDayName(day), ...sealedJson(sealed) })),
    latest: latest?.map(partJson) ?? null,
    expired: [...expired]
      .sort(byDay)
      .map(([day, sealed]) => ({ day: utcDayName(day), ...sealedJson(sealed), sinceMs: sealed.sinceMs })),
    ...(retention === null ? {} : { retention }),
  };
  const text = JSON.stringify(body);
  return new TextEncoder().encode(
    `{"version":${FORMAT_VERSION},"crc":${checksumOf(text)},"manifest":${text}}\n`,
  );
}

function byDay([a]: [UtcDay, unknown], [b]: [UtcDay, unknown]): number {
  return a - b;
}

function sealedJson({ sequence, parts, lost }: SealedDay) {
  return { sequence, parts: parts.map(partJson), lost: lost.map(partJson) };
}

function partJson({ file, rows, bytes, crc, apps, columns }: Part) {
  return { file, rows, bytes, crc, apps: [...apps], columns };
}

/** Why a manifest can't be used. */
export type ManifestFault =
  /** A program of another version wrote it. */
  { readonly kind: "other_version"; readonly version: number } | { readonly kind: "damaged" };

export function parseManifest(bytes: Uint8Array): Result<Manifest, ManifestFault> {
  try {
    const content = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as {
      version: unknown;
      crc: unknown;
      manifest: ManifestJson;
    };
    const { version, crc, manifest } = content;
    const isOurs = manifest !== undefined && checksumOf(JSON.stringify(manifest)) === crc;
    if (isOurs && version === FORMAT_VERSION) return ok(manifestOf(manifest));
    const isOther = Number.isInteger(version) && (version as number) > 0 && version !== FORMAT_VERSION;
    if (isOther && !isOurs) return fail({ kind: "other_version", version: version as number });
    return fail({ kind: "damaged" });
  } catch {
    return fail({ kind: "damaged" }); // No JSON, or not of this shape: what the checksum admits is ours.
  }
}

/** The manifest in a file; null if it is damaged. Throws a `FormatVersionError` for another version. */
export function readManifest(bytes: Uint8Array, path: string): Manifest | null {
  const parsed = parseManifest(bytes);
  if (parsed.ok) return parsed.value;
  if (parsed.error.kind === "damaged") return null;
  throw FormatVersionError.of("the archive's manifest", path, FORMAT_VERSION, parsed.error.version);
}

/** The manifest of an archive, and the state its file is in. */
export interface FoundManifest {
  /** Empty if there is none that can be used. */
  readonly manifest: Manifest;
  /** `none` before the first seal; `missing` or `damaged` if the next start makes one from the files. */
  readonly state: "ok" | "none" | "missing" | "damaged";
}

/** Throws a `FormatVersionError` for a manifest of another version. */
export async function findManifest(files: Files, directory: string): Promise<FoundManifest> {
  const path = archivePaths(directory).manifest;
  if (!(await files.exists(path))) {
    const hasParts = (await listPartFiles(files, directory)).length > 0;
    return { manifest: EMPTY_MANIFEST, state: hasParts ? "missing" : "none" };
  }
  const manifest = readManifest(await files.read(path), path);
  return manifest === null ? { manifest: EMPTY_MANIFEST, state: "damaged" } : { manifest, state: "ok" };
}

/**
 * The retention that the last seal went by, for a directory whose setting is lost: ten years must not go for the want
 * of a small file. The default if no manifest says, as before the first seal. Opening the archive reports a manifest
 * that is damaged or of another version.
 */
export async function sealedRetention(files: Pick<Files, "read">, directory: string): Promise<Retention> {
  const bytes = await readIfThere(files, archivePaths(directory).manifest);
  if (bytes === null) return DEFAULT_RETENTION;
  const manifest = parseManifest(bytes);
  if (!manifest.ok || manifest.value.retention === null) return DEFAULT_RETENTION;
  const retention = FixedRetention.parse(manifest.value.retention);
  return retention.ok ? retention.value : FixedRetention.FOREVER; // Of a newer program: nothing is given up by guess.
}

interface PartJson extends Omit<Part, "apps"> {
  readonly apps: readonly [AppId, number][];
}

interface DayJson {
  readonly day: string;
  readonly sequence: number;
  readonly parts: readonly PartJson[];
  readonly lost: readonly PartJson[];
}

interface ManifestJson {
  readonly seal: number;
  readonly lastSequence: number;
  readonly days: readonly DayJson[];
  readonly latest: readonly PartJson[] | null;
  readonly expired: readonly (DayJson & { readonly sinceMs: number })[];
  /** The retention at the last seal. A manifest made from the files of a lost one lacks it. */
  readonly retention?: string;
}

function manifestOf(json: ManifestJson): Manifest {
  const { seal, lastSequence, days, latest, expired, retention = null } = json;
  return {
    seal: wholeOf(seal),
    lastSequence: wholeOf(lastSequence),
    days: new Map(days.map((day) => [dayOf(day), sealedOf(day)])),
    latest: latest?.map(partOf) ?? null,
    expired: new Map(expired.map((day) => [dayOf(day), { ...sealedOf(day), sinceMs: wholeOf(day.sinceMs) }])),
    retention,
  };
}

function dayOf({ day }: DayJson): UtcDay {
  const parsed = parseUtcDayName(day);
  if (parsed === null) throw new Error(`"${day}" is no day`);
  return parsed;
}

function sealedOf({ sequence, parts, lost }: DayJson): SealedDay {
  return { sequence: wholeOf(sequence), parts: parts.map(partOf), lost: lost.map(partOf) };
}

function partOf({ file, rows, bytes, crc, apps, columns }: PartJson): Part {
  return {
    file,
    rows: wholeOf(rows),
    bytes: wholeOf(bytes),
    crc: wholeOf(crc),
    apps: new Map(apps.map(([appId, rowsOfApp]) => [appId, wholeOf(rowsOfApp)])),
    columns,
  };
}

function wholeOf(value: unknown): number {
  if (!Number.isSafeInteger(value)) throw new Error(`${value} is no whole number`);
  return value as number;
}
