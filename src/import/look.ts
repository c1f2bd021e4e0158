import { createHash } from "node:crypto";
import { readBeginning } from "../formats/read/beginning.ts";
import { type Beginning, type Beside, type Format, FormatError } from "../formats/read/format.ts";
import { FORMATS } from "../formats/read/formats.ts";
import { readGoogleDevices } from "../formats/read/google/records.ts";
import { GOOGLE_SETTINGS, type NotHistory } from "../formats/read/not-history.ts";
import { OWN_FORMATS, type OwnFormat, recogniseOwn } from "../formats/read/own-formats.ts";
import { type Recognition, recognise } from "../formats/read/recognise.ts";
import { textPieces } from "../formats/read/text-pieces.ts";
import { KnownFiles } from "./known-files.ts";
import type { ImportSource } from "./reading/read-sources.ts";
import type { Source, Sources } from "./sources/source.ts";
import { UnreadFiles } from "./unread-files.ts";

/** Files that are counted together: one that was named, or all of a format that folders and archives hold. */
export interface FileGroup {
  /** Of the first file. */
  readonly label: string;
  readonly formatName: string;
  /** The format as people read it. */
  readonly title: string;
  readonly isOwn: boolean;
  /** What tells that the first file is of this format. */
  readonly reason: string;
  readonly files: number;
}

/** What an import was given, found out from the beginnings of all files. */
export interface Look {
  readonly groups: readonly FileGroup[];
  readonly beside: Beside;
  /** What tells these files from any others; null where one of them can't be read again by a later run. */
  readonly identity: string | null;
  /** Files that nothing comes in from. */
  readonly unread: UnreadFiles;
  /** Bytes of the files with positions, packed as they are; null with a pipe. */
  readonly packedBytes: number | null;
  /** The files with positions, the same each time. */
  walk(): AsyncGenerator<ImportSource>;
}

interface LookOptions {
  readonly sources: Sources;
  recognise(source: Source): Promise<Recognition>;
  readonly signal: AbortSignal;
  onLooked(files: number): void;
}

export async function lookAt({ sources, recognise, signal, onLooked }: LookOptions): Promise<Look> {
  const groups = new FileGroups();
  const known = new KnownFiles();
  const unread = new UnreadFiles();
  const googleDevices = new Map<string, string>();
  const hash = createHash("sha256");
  let looked = 0;
  let hasGoogleRecords = false;
  let isIdentified = true;

  for await (const found of sources.walk()) {
    if (signal.aborted) break;
    if (found.kind === "failed") unread.addFailed(found.where, found.reason);
    else if (found.kind === "left_alone") unread.addNotHistory(found.where, found.what);
    else await noteSource(found.source);
    onLooked(++looked);
  }

  async function noteSource(source: Source): Promise<void> {
    let recognition: Recognition;
    try {
      recognition = await recognise(source);
      if (recognition.kind === "not_history")
        for (const [tag, name] of await googleDevicesOf(source, recognition.what))
          googleDevices.set(tag, name);
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      unread.addFailed(source, error.message);
      return;
    }
    if (recognition.kind === "not_history") {
      unread.addNotHistory(source, recognition.what);
      return;
    }
    const { format, reason } = recognition;
    known.add(source, format, groups.add(source, format, reason));
    hasGoogleRecords ||= formatName(format) === GOOGLE_RECORDS;
    const identity = await source.identity();
    hash.update(`${identity} ${formatName(format)}\n`);
    isIdentified &&= identity !== null;
  }

  return {
    groups: groups.all,
    beside: { googleDevices, hasGoogleRecords },
    identity: isIdentified ? hash.update(JSON.stringify([...googleDevices])).digest("hex") : null,
    unread,
    packedBytes: known.packedBytes,
    walk: () => known.walk(sources),
  };
}

class FileGroups {
  readonly all: (FileGroup & { files: number })[] = [];
  readonly #byTitle = new Map<string, number>();

  /** The group that a file is in. */
  add({ label, isNamed }: Source, format: Format | OwnFormat, reason: string): number {
    const isOwn = typeof format === "string";
    const title = isOwn ? `Wherehouse ${format.toUpperCase()}` : format.title;
    const index = (isNamed ? undefined : this.#byTitle.get(title)) ?? this.all.length;
    if (!isNamed) this.#byTitle.set(title, index);
    this.all[index] ??= { label, formatName: formatName(format), title, isOwn, reason, files: 0 };
    this.all[index].files++;
    return index;
  }
}

/** They are some kilobytes, however many phones there were. */
const SETTINGS_BYTES_MAX = 1024 * 1024;

/** What Google's settings call the devices whose tags positions carry; none of any other file. */
async function googleDevicesOf(source: Source, { kind }: NotHistory): Promise<ReadonlyMap<string, string>> {
  if (kind !== GOOGLE_SETTINGS) return new Map();
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of textPieces(source.pieces())) {
    text += decoder.decode(piece, { stream: true });
    if (text.length > SETTINGS_BYTES_MAX) return new Map();
  }
  return readGoogleDevices(text.replace(/^\uFEFF/, ""));
}

const GOOGLE_RECORDS = "google-records";

function formatName(format: Format | OwnFormat): string {
  return typeof format === "string" ? format : format.name;
}

/**
 * What a source is, by how it begins, or what its operator says that it is. Throws a `FormatError` where that can't be
 * read.
 */
export async function recogniseSource(source: Source, formatName: string | null): Promise<Recognition> {
  const beginning = await readBeginning(source);
  return formatName === null ? recognise(beginning, FORMATS) : takenFor(formatName, beginning);
}

/** Formats of others may be called as one of ours, CSV as CSV: what says that it is ours is. */
function takenFor(name: string, beginning: Beginning): Recognition {
  const own = recogniseOwn(beginning);
  const isOwn = own?.format === name;
  const format = (isOwn ? own.format : null) ?? FORMATS.find((each) => each.name === name);
  const given = format ?? OWN_FORMATS.find((each) => each === name);
  if (given === undefined) throw new TypeError(`There is no format ${name}`);
  return { kind: "history", format: given, reason: "as --format says" };
}
