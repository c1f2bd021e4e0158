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

/** Files that are counted together: one that was named, or all of a format in folders and archives. */
export interface FileGroup {
  /** The path of the first file. */
  readonly label: string;
  readonly formatName: string;
  /** The format's name for people. */
  readonly title: string;
  readonly isOwn: boolean;
  /** How the first file shows this format. */
  readonly reason: string;
  readonly files: number;
}

/** The files of an import, and their formats as their beginnings show them. */
export interface Look {
  readonly groups: readonly FileGroup[];
  readonly beside: Beside;
  /** A hash of these files; null if a later run can't read one of them again. */
  readonly identity: string | null;
  /** Files without importable positions. */
  readonly unread: UnreadFiles;
  /** Compressed bytes of the files with positions; null if one is a pipe. */
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

  for await (const item of sources.walk()) {
    if (signal.aborted) break;
    if (item.kind === "failed") unread.addFailed(item.where, item.reason);
    else if (item.kind === "left_alone") unread.addNotHistory(item.where, item.what);
    else await noteSource(item.source);
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

  /** Adds a file; returns the index of its group. */
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

/** Such files have a few kilobytes, even with many phones. */
const SETTINGS_BYTES_MAX = 1024 * 1024;

/** The device names by tag from Google's settings file; empty for any other file. */
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
 * The format of a source, by its beginning or as the operator specified it. Throws a `FormatError` if the beginning
 * can't be read.
 */
export async function recogniseSource(source: Source, formatName: string | null): Promise<Recognition> {
  const beginning = await readBeginning(source);
  return formatName === null ? recognise(beginning, FORMATS) : recogniseAs(formatName, beginning);
}

/** A foreign format may have the name of one of ours, as CSV does: then the file's header decides. */
function recogniseAs(name: string, beginning: Beginning): Recognition {
  const own = recogniseOwn(beginning);
  const isOwn = own?.format === name;
  const format = (isOwn ? own.format : null) ?? FORMATS.find((each) => each.name === name);
  const ownOrForeign = format ?? OWN_FORMATS.find((each) => each === name);
  if (ownOrForeign === undefined) throw new TypeError(`There is no format ${name}`);
  return { kind: "history", format: ownOrForeign, reason: "as --format says" };
}
