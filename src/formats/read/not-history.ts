import type { Beginning } from "./format.ts";

/** What is known of a file that holds no positions. */
export interface NotHistory {
  /** What such files are counted under, such as `jpg` in "left alone: 8 jpg". */
  readonly kind: string;
  /** What it is and what to give instead: goes on from the file's name, and has no full stop. */
  readonly answer: string;
}

/** Files without positions that are known by how they begin, or by their names where nothing else tells. */
interface Telltale extends NotHistory {
  tells(beginning: Beginning): boolean;
}

/** Files of other kinds that begin with bytes of their own, some of them behind others. */
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

/** A kind of files that have this text, of a byte a character, at this offset. */
function file(kind: string, answer: string, magic: string, offset = 0): Telltale {
  const wanted = Array.from(magic, (character) => character.charCodeAt(0));
  return {
    kind,
    answer,
    tells: ({ bytes }) => wanted.every((byte, index) => bytes[offset + index] === byte),
  };
}

/** They name the devices whose tags positions carry. */
export const GOOGLE_SETTINGS = "Google settings";

/** What else lies in Google's archives, and is given for want of what was looked for. */
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
    answer: "has reviews written in Google Maps, which say nothing of when their writer was where",
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
    answer: "is My Activity, what was searched and opened; its places are not where anybody was",
    tells: ({ name, text }) =>
      /^my ?activity\.(json|html)$/.test(name) || /^\[\s*\{\s*"header"\s*:/.test(text),
  },
];

/** Files with nothing in them. */
export const EMPTY: Telltale = {
  kind: "empty",
  answer: "is empty",
  tells: ({ bytes, text, isWhole }) => isWhole && (bytes.length === 0 || isEmptyJson(text)),
};

/** `{}`, `[]` and lists that nothing was put into. */
function isEmptyJson(text: string): boolean {
  if (text.length > EMPTY_CHARACTERS_MAX || !/^[{[]/.test(text)) return false;
  return /^[\s[\]{},]*$/.test(text.replaceAll(/"[^"]*"\s*:/g, ""));
}

const EMPTY_CHARACTERS_MAX = 1024;

/** Texts that no format would take for its own. */
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

/** JSON from the middle of a file. Only what no format knows is asked: a log may well have JSON in its lines. */
export const FRAGMENT: Telltale = {
  kind: "fragment of JSON",
  answer: "is a fragment; the file was split, so put its parts together and give that",
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

/** Where the first object or list of a text ends; null where it goes on. */
function endOfValue(text: string): number | null {
  let depth = 0;
  // A text that doesn't end takes all that is left, or each quote in it would be looked at as the start of another.
  for (const { 0: token, index } of text.matchAll(/"[^"\\]*(?:\\[\s\S]?[^"\\]*)*(?:"|$)|[{}[\]]/g)) {
    if (token === "{" || token === "[") depth++;
    else if (token === "}" || token === "]") depth--;
    if (depth === 0) return index + token.length;
  }
  return null;
}
