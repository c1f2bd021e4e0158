import type { Telltale } from "./not-history.ts";

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
