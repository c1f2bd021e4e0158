import type { ChosenFile } from "./chosen-files.ts";

/* What the page does with a file: the server reads some, and the import command reads the others. */

export type FilePlan =
  /** `encoding` is how the file is packed already. */
  | { readonly kind: "send"; readonly encoding: "gzip" | "zstd" | null }
  /** The import command reads it. `reason` says why the server does not. */
  | { readonly kind: "command"; readonly reason: string };

/** The server accepts no larger file, packed or not. */
export const FILE_BYTES_MAX = 16 * 1024 * 1024;

/** How much of a file `planFile` needs. */
export const BEGINNING_BYTES = 64;

const GZIP = [0x1f, 0x8b];
const ZSTD = [0x28, 0xb5, 0x2f, 0xfd];
const ZIP = [0x50, 0x4b, 0x03, 0x04];

/** Byte order marks of UTF-8 and UTF-16. */
const MARKS = [
  [0xef, 0xbb, 0xbf],
  [0xff, 0xfe],
  [0xfe, 0xff],
];

/** What XML and JSON begin with; GeoJSON by lines may begin with a record separator. */
const TEXT_STARTS: readonly (string | undefined)[] = ["<", "{", "[", "\u001e"];

/** Decides by the beginning of a file. The server looks closer, and may still say that it can't read it. */
export function planFile({ size, isFolder }: ChosenFile, beginning: Uint8Array): FilePlan {
  if (isFolder) return command("It is a folder.");
  if (size > FILE_BYTES_MAX) return command("It is larger than 16 MiB.");
  const begins = (magic: readonly number[]) => magic.every((byte, index) => beginning[index] === byte);
  if (begins(GZIP)) return { kind: "send", encoding: "gzip" };
  if (begins(ZSTD)) return { kind: "send", encoding: "zstd" };
  if (begins(ZIP)) return command("It is an archive, such as a zip or a KMZ.");
  const mark = MARKS.find(begins)?.length ?? 0;
  // Half of the bytes of UTF-16 are zero.
  const text = [...beginning.subarray(mark)].filter((byte) => byte !== 0);
  const start = text.map((byte) => String.fromCharCode(byte)).find((letter) => !/\s/.test(letter));
  if (text.length > 0 && !TEXT_STARTS.includes(start)) return command("It is not GPX, KML or GeoJSON.");
  return { kind: "send", encoding: null };
}

function command(reason: string): FilePlan {
  return { kind: "command", reason };
}

/** The import command for a file, as it is typed in a shell. `KEY` stands for a key with the permission `write`. */
export function importCommand(name: string, origin: string, deviceId: string | null): string {
  return `npm run --silent cli -- import ${quoted(pathOf(name))}${deviceFlag(deviceId)} --url ${quoted(origin)} --key KEY`;
}

/** A name that begins with a hyphen would be an option. */
function pathOf(name: string): string {
  return name.startsWith("-") ? `./${name}` : name;
}

/** An id that begins with a hyphen would be an option, unless it follows an equals sign. */
function deviceFlag(deviceId: string | null): string {
  if (deviceId === null) return "";
  return ` --device${deviceId.startsWith("-") ? "=" : " "}${quoted(deviceId)}`;
}

function quoted(text: string): string {
  return /^[\p{L}\p{N}_./:@%+-]+$/u.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The device that the import command would choose if the file names none: `ride` for `ride.gpx.gz`. */
export function baseName(name: string): string {
  return name.replace(/\.(gz|zst)$/i, "").replace(/(?<=.)\.[^.]*$/, "");
}

/** `413 bytes`, `12 kB`, `3.4 MB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  if (bytes < 999_500) return `${Math.round(bytes / 1000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
