import type { Beginning } from "./format.ts";

/** A recognised file without positions. */
export interface NotHistory {
  /** The label for counting such files, such as `jpg` in "left alone: 8 jpg". */
  readonly kind: string;
  /** What it is and what to give instead: continues the file's name, without a full stop. */
  readonly answer: string;
}

/** A file without positions that is recognised by its beginning, or by its name alone. */
interface Telltale extends NotHistory {
  tells(beginning: Beginning): boolean;
}

/** Binary files, recognised by magic bytes. */
export const MAGIC_FILES: readonly Telltale[] = [
  file("pdf", "is a PDF, for reading; ask the program that made it for its data", "%PDF-"),
  file("jpg", "is a picture; where photos were taken is not read", "\xff\xd8\xff"),
  file("png", "is a picture", "\x89PNG"),
  file("gif", "is a picture", "GIF8"),
  file("webp", "is a picture", "WEBP", 8),
  file("tif", "is a picture; where photos were taken is not read", "II*\0"),
  file("tif", "is a picture; where photos were taken is not read", "MM\0*"),
  file("photo or film", "is a photo or a film; where it was taken is not read", "ftyp", 4),
  file("sound", "is a sound", "ID3\x03"),
  file("sound", "is a sound", "ID3\x04"),
  file("sound", "is a sound", "OggS"),
  file("rar", "is a RAR archive, which is not read here; unpack it and give the folder", "Rar!"),
  file(
    "7z",
    "is a 7-Zip archive, which is not read here; unpack it and give the folder",
    "7z\xbc\xaf\x27\x1c",
  ),
  file("xz", "is packed by xz, which is not read here; unpack it and give what comes out", "\xfd7zXZ"),
  file("bz2", "is packed by bzip2, which is not read here; unpack it and give what comes out", "1AY&SY", 4),
  file("tar", "is a tar archive, which is not read here; unpack it and give the folder", "ustar", 257),
  file("document", "is a document of an office program; save the table in it as CSV", "\xd0\xcf\x11\xe0"),
  file("document", "is a document of an office program; save the table in it as CSV", "{\\rtf"),
  file("database", "is a database of SQLite; have its program export what is in it", "SQLite format 3\0"),
  file("plist", "is a property list of a Mac or an iPhone, no history", "bplist"),
  file(".DS_Store", "is how a Mac shows a folder, no history", "Bud1", 4),
];

/** A kind of file that has `magic`, one byte per character, at `offset`. */
function file(kind: string, answer: string, magic: string, offset = 0): Telltale {
  const magicBytes = Array.from(magic, (character) => character.charCodeAt(0));
  return {
    kind,
    answer,
    tells: ({ bytes }) => magicBytes.every((byte, index) => bytes[offset + index] === byte),
  };
}

/** These files name the devices whose tags positions carry. */
export const GOOGLE_SETTINGS = "Google settings";

/** Other files of Google's archives that are often given by mistake. */
export const GOOGLE_FILES: readonly Telltale[] = [
  {
    kind: "index page",
    answer: "is the index page of a Takeout; give the folder or Records.json",
    tells: ({ name, text }) => name === "archive_browser.html" || /<title>(Google )?Takeout\b/i.test(text),
  },
  {
    kind: "note that Timeline is encrypted",
    answer:
      "says that Timeline is encrypted on Google's side; " +
      "export it on the phone: Settings → Location → Timeline → Export",
    tells: ({ name, text }) =>
      name === "encrypted backups.txt" || /^.{0,100}\bencrypted Timeline backups/i.test(text),
  },
  {
    kind: GOOGLE_SETTINGS,
    answer: "has settings, no positions; Records.json or Timeline.json has those",
    tells: ({ text }) => /^\{[^[]*"(deviceSettings|gaiaId)"\s*:/.test(text),
  },
  {
    kind: "Tombstones.csv",
    answer: "has what was deleted from Timeline, no history",
    tells: ({ name }) => name === "tombstones.csv",
  },
  {
    kind: "Maps reviews",
    answer: "has reviews written in Google Maps, which don't tell when their writer was where",
    tells: ({ text }) => /^\{/.test(text) && /"(five_star_rating_published|Star Rating)"\s*:/.test(text),
  },
  {
    kind: "saved places",
    answer: "has places saved in Google Maps, with the times they were saved, not those they were visited",
    tells: ({ name, text }) =>
      (/^\{/.test(text) && /"(google_maps_url|Google Maps URL)"\s*:/.test(text)) ||
      /^Title,Note,URL\b/.test(text) ||
      /^labell?ed places\.json$/.test(name),
  },
  {
    kind: "My Activity",
    answer: "is My Activity, which lists searches and opened pages; its places are not positions",
    tells: ({ name, text }) =>
      /^my ?activity\.(json|html)$/.test(name) || /^\[\s*\{\s*"header"\s*:/.test(text),
  },
];

export const EMPTY: Telltale = {
  kind: "empty",
  answer: "is empty",
  tells: ({ bytes, text, isWhole }) => isWhole && (bytes.length === 0 || isEmptyJson(text)),
};

/** `{}`, `[]` and objects with empty lists only. */
function isEmptyJson(text: string): boolean {
  if (text.length > EMPTY_CHARACTERS_MAX || !/^[{[]/.test(text)) return false;
  return /^[\s[\]{},]*$/.test(text.replaceAll(/"[^"]*"\s*:/g, ""));
}

const EMPTY_CHARACTERS_MAX = 1024;

/** Texts that no format recognises. */
export const OTHER_TEXTS: readonly Telltale[] = [
  {
    kind: "Apple Health records",
    answer: "has no positions; those are in the GPX files of workout-routes, beside it",
    tells: ({ text }) =>
      /^(<\?xml[^>]*>\s*)?(<!DOCTYPE HealthData\b|<HealthData\b|<ClinicalDocument\b)/.test(text),
  },
  {
    kind: "plist",
    answer: "is a property list of a Mac or an iPhone, no history",
    tells: ({ text }) => /^(<\?xml[^>]*>\s*)?(<!DOCTYPE plist\b|<plist\b)/.test(text),
  },
  {
    kind: "html",
    answer: "is a web page, for reading; look for the data beside it",
    tells: ({ text }) => /^(<\?xml[^>]*>\s*)?(<!DOCTYPE html\b|<html\b)/i.test(text),
  },
  {
    kind: "calendar or contacts",
    answer: "has appointments or contacts, no history",
    tells: ({ text }) => /^BEGIN:V(CALENDAR|CARD)\b/.test(text),
  },
];

/** JSON from the middle of a file. Checked only if no format recognises the file: a log may have JSON in its lines. */
export const FRAGMENT: Telltale = {
  kind: "fragment of JSON",
  answer: "is a fragment; the file was split, so join its parts and import the result",
  tells: isFragment,
};

function isFragment({ text }: Beginning): boolean {
  if (!MEMBER.test(text) || text.startsWith("<")) return false;
  if (!/^[{[]/.test(text)) return true;
  const end = endOfValue(text);
  return end !== null && /^\s*[,:}\]]/.test(text.slice(end, end + BLANKS_MAX));
}

const MEMBER = /"\w+"\s*:\s*["{[\d-]/;
const BLANKS_MAX = 100;

/** The index after the first object or list; null if it does not end. */
function endOfValue(text: string): number | null {
  let depth = 0;
  // An unterminated string takes the whole rest, or each quote in it would be tried as the start of another.
  for (const { 0: token, index } of text.matchAll(/"[^"\\]*(?:\\[\s\S]?[^"\\]*)*(?:"|$)|[{}[\]]/g)) {
    if (token === "{" || token === "[") depth++;
    else if (token === "}" || token === "]") depth--;
    if (depth === 0) return index + token.length;
  }
  return null;
}
