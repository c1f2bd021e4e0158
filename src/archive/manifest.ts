import { crc32 } from "node:zlib";
import { fail, ok, type Result } from "../lib/result.ts";
import { FormatVersionError } from "../lib/text/versioned-json.ts";
import type { AppId } from "../model/ids.ts";
import { DEFAULT_RETENTION, FixedRetention, type Retention } from "../model/time/retention.ts";
import { parseUtcDayName, type UtcDay, utcDayName } from "../model/time/utc-day.ts";
import { type Files, readIfThere } from "../runtime/files.ts";
import { archivePaths, hasFiles, lostName } from "./archive-files.ts";
import { COLUMNS_MARK } from "./columns.ts";

/** Which days are archived, in which files. Replaced as a whole, so a seal happens in one instant or not at all. */
export interface Manifest {
  /** The number of the last seal. The next seal names its files by the next number. */
  readonly seal: number;
  /** No log entry up to this one may be added again, since days count as covered up to here. */
  readonly lastSequence: number;
  /** Archived days, the oldest first. */
  readonly days: ReadonlyMap<UtcDay, SealedDay>;
  /** The checkpoint: files with the newest archived record of every device; null before the first seal. */
  readonly latest: readonly Part[] | null;
  /**
   * Days beyond the retention. Their files stay until they are deleted, so that they are back if the clock is set back:
   * retention is decided by the clock at each answer, and a day that has not expired by it is shown.
   */
  readonly expired: ReadonlyMap<UtcDay, ExpiredDay>;
  /** The retention at the last seal, like `365d`, in case the setting is lost; null if it is not known. */
  readonly retention: string | null;
  /** The file of the entries that stand; null before the first one of them was sealed. */
  readonly standing: StandingPart | null;
  /** Erasures up to this entry of the log are finished: nothing of them is left to erase. */
  readonly erased: number;
}

/** The file of standing entries. Its rows are entries. */
export interface StandingPart extends Part {
  /** It has every entry up to this one of the log that still stands, and perhaps later ones. */
  readonly sequence: number;
}

export interface SealedDay {
  /** The parts contain every report of the day in log entries up to this one. */
  readonly sequence: number;
  /** What erasures up to this entry of the log destroy is not in the parts. */
  readonly cleared: number;
  /** No record is in two parts. */
  readonly parts: readonly Part[];
  /** Parts whose loss an operator has acknowledged. Answers leave them out and say so. */
  readonly lost: readonly Part[];
}

export interface ExpiredDay extends SealedDay {
  /** When it was found to be expired, or when its files were deleted after that. Unix ms. */
  readonly sinceMs: number;
}

/** A file of the archive: mostly Parquet. */
export interface Part {
  /** Its path within the archive directory, with `/`. */
  readonly file: string;
  readonly rows: number;
  readonly bytes: number;
  /** CRC-32 of the whole file. */
  readonly crc: number;
  /** Number of rows by app. */
  readonly apps: ReadonlyMap<AppId, number>;
  /** The mark of its columns (`columnsMark()`); empty if it is not Parquet. */
  readonly columns: string;
}

/** The apps of a lost part's file among the damaged ones; null if the manifest knows no such part. */
export function appsOfLost({ days, expired }: Manifest, name: string): ReadonlySet<AppId> | null {
  for (const { lost } of [...days.values(), ...expired.values()])
    for (const { file, apps } of lost) if (lostName(file) === name) return new Set(apps.keys());
  return null;
}

/** Whether any part lacks a column that this version knows. Statements over such parts are slower. */
export function hasOldParts(parts: readonly Part[]): boolean {
  return parts.some(({ columns }) => columns !== COLUMNS_MARK);
}

/** The archived day, expired or not. */
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
  standing: null,
  erased: 0,
};

const FORMAT_VERSION = 4;

// {"version": 4, "crc": ..., "manifest": {...}}: the checksum covers the version and the JSON text of `manifest` as
// this version writes it, so that any flipped bit is noticed, also one that makes the file look like another version's.
export function checksumOf(text: string): number {
  return crc32(`${FORMAT_VERSION}\n${text}`);
}

export function encodeManifest(manifest: Manifest): Uint8Array {
  const { seal, lastSequence, days, latest, expired, retention, standing, erased } = manifest;
  const body = {
    seal,
    lastSequence,
    erased,
    days: [...days].sort(byDay).map(([day, sealed]) => ({ day: utcDayName(day), ...sealedJson(sealed) })),
    latest: latest?.map(partJson) ?? null,
    expired: [...expired]
      .sort(byDay)
      .map(([day, sealed]) => ({ day: utcDayName(day), ...sealedJson(sealed), sinceMs: sealed.sinceMs })),
    ...(retention === null ? {} : { retention }),
    ...(standing === null ? {} : { standing: { ...partJson(standing), sequence: standing.sequence } }),
  };
  const text = JSON.stringify(body);
  return new TextEncoder().encode(
    `{"version":${FORMAT_VERSION},"crc":${checksumOf(text)},"manifest":${text}}\n`,
  );
}

function byDay([a]: [UtcDay, unknown], [b]: [UtcDay, unknown]): number {
  return a - b;
}

function sealedJson({ sequence, cleared, parts, lost }: SealedDay) {
  return { sequence, cleared, parts: parts.map(partJson), lost: lost.map(partJson) };
}

function partJson({ file, rows, bytes, crc, apps, columns }: Part) {
  return { file, rows, bytes, crc, apps: [...apps], columns };
}

/** Why a manifest can't be used. */
export type ManifestFault =
  | { readonly kind: "other_version"; readonly version: number }
  | { readonly kind: "damaged" };

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
    return fail({ kind: "damaged" }); // Not JSON, or of another shape, which no manifest with a valid checksum has.
  }
}

/** The manifest in a file; null if it is damaged. Throws a `FormatVersionError` for another version. */
export function readManifest(bytes: Uint8Array, path: string): Manifest | null {
  const parsed = parseManifest(bytes);
  if (parsed.ok) return parsed.value;
  if (parsed.error.kind === "damaged") return null;
  throw FormatVersionError.of("the archive's manifest", path, FORMAT_VERSION, parsed.error.version);
}

/** The manifest of an archive, and the state of its file. */
export interface ManifestFile {
  /** Empty if there is none that can be used. */
  readonly manifest: Manifest;
  /** `none` before the first seal; `missing` or `damaged` if the next start rebuilds it from the files. */
  readonly state: "ok" | "none" | "missing" | "damaged";
}

/** Throws a `FormatVersionError` for a manifest of another version. */
export async function findManifest(files: Files, directory: string): Promise<ManifestFile> {
  const path = archivePaths(directory).manifest;
  if (!(await files.exists(path))) {
    return { manifest: EMPTY_MANIFEST, state: (await hasFiles(files, directory)) ? "missing" : "none" };
  }
  const manifest = readManifest(await files.read(path), path);
  return manifest === null ? { manifest: EMPTY_MANIFEST, state: "damaged" } : { manifest, state: "ok" };
}

/**
 * The retention at the last seal, for a directory that has lost the setting: that must not delete ten years of records.
 * The default if no manifest tells it, as before the first seal. A manifest that is damaged or of another version is
 * reported when the archive is opened.
 */
export async function sealedRetention(files: Pick<Files, "read">, directory: string): Promise<Retention> {
  const bytes = await readIfThere(files, archivePaths(directory).manifest);
  if (bytes === null) return DEFAULT_RETENTION;
  const manifest = parseManifest(bytes);
  if (!manifest.ok || manifest.value.retention === null) return DEFAULT_RETENTION;
  const retention = FixedRetention.parse(manifest.value.retention);
  return retention.ok ? retention.value : FixedRetention.FOREVER; // Written by a newer version: delete nothing.
}

interface PartJson extends Omit<Part, "apps"> {
  readonly apps: readonly [AppId, number][];
}

interface DayJson {
  readonly day: string;
  readonly sequence: number;
  readonly cleared: number;
  readonly parts: readonly PartJson[];
  readonly lost: readonly PartJson[];
}

interface ManifestJson {
  readonly seal: number;
  readonly lastSequence: number;
  readonly erased: number;
  readonly days: readonly DayJson[];
  readonly latest: readonly PartJson[] | null;
  readonly expired: readonly (DayJson & { readonly sinceMs: number })[];
  /** The retention at the last seal. A rebuilt manifest lacks it. */
  readonly retention?: string;
  readonly standing?: PartJson & { readonly sequence: number };
}

function manifestOf(json: ManifestJson): Manifest {
  const { seal, lastSequence, erased, days, latest, expired, retention = null, standing } = json;
  return {
    seal: wholeOf(seal),
    lastSequence: wholeOf(lastSequence),
    erased: wholeOf(erased),
    days: new Map(days.map((day) => [dayOf(day), sealedOf(day)])),
    latest: latest?.map(partOf) ?? null,
    expired: new Map(expired.map((day) => [dayOf(day), { ...sealedOf(day), sinceMs: wholeOf(day.sinceMs) }])),
    retention,
    standing: standing === undefined ? null : { ...partOf(standing), sequence: wholeOf(standing.sequence) },
  };
}

function dayOf({ day }: DayJson): UtcDay {
  const parsed = parseUtcDayName(day);
  if (parsed === null) throw new Error(`"${day}" is not a day`);
  return parsed;
}

function sealedOf({ sequence, cleared, parts, lost }: DayJson): SealedDay {
  return {
    sequence: wholeOf(sequence),
    cleared: wholeOf(cleared),
    parts: parts.map(partOf),
    lost: lost.map(partOf),
  };
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
  if (!Number.isSafeInteger(value)) throw new Error(`${value} is not an integer`);
  return value as number;
}
