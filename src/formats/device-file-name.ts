import { createHash } from "node:crypto";

/*
 * Files named after devices: `export --split device` writes them, and `import` takes the device from the name. A device
 * may be called anything, `../../etc/passwd` too.
 */

/** Bytes of a name without its ending; file systems take 255 in all. */
const NAME_BYTES_MAX = 160;
const HASH_CHARACTERS = 8;

/** What stays as it is: letters and digits of any script, and what no shell or file system minds within a name. */
const PLAIN = /[\p{L}\p{N}._@+-]/u;
/** At the beginning these would hide the file, or be an option. */
const NOT_FIRST = /[.+-]/;

/**
 * A file name without ending for each device, in their order: the device's own characters, and `%41` for a byte as in
 * URLs. Names differ on every file system. Some take `Bus` and `bus` for one, or a letter with its accent and the two
 * one after the other; then more characters of the later name are written as bytes. Only a name that would be longer
 * than file systems allow is cut, with a hash at its end: `deviceNameOf` can't read that back.
 */
export function fileNamesOf(deviceIds: readonly string[]): string[] {
  const taken = new Set<string>();
  return deviceIds.map((deviceId) => {
    let name = fileNameOf(deviceId, 0);
    for (let escaped = 1; taken.has(folded(name)) && escaped <= deviceId.length; escaped++)
      name = fileNameOf(deviceId, escaped);
    taken.add(folded(name));
    return name;
  });
}

/** The device that a file is named after: the name itself if it has no bytes written as `%41`. */
export function deviceNameOf(fileName: string): string {
  if (!fileName.includes("%")) return fileName;
  try {
    return decodeURIComponent(fileName);
  } catch {
    return fileName; // Another program's percent sign.
  }
}

/** The first `escapedMin` characters are written as bytes in any case. */
function fileNameOf(deviceId: string, escapedMin: number): string {
  const name = [...deviceId]
    .map((character, index) => (isPlain(character, index, escapedMin) ? character : bytesOf(character)))
    .join("");
  if (new TextEncoder().encode(name).length <= NAME_BYTES_MAX) return name;
  const hash = createHash("sha256").update(deviceId).digest("hex").slice(0, HASH_CHARACTERS);
  return `${shortened(name)}~${hash}`;
}

function isPlain(character: string, index: number, escapedMin: number): boolean {
  if (index < escapedMin || !PLAIN.test(character)) return false;
  if (index === 0 && NOT_FIRST.test(character)) return false;
  return character === character.normalize("NFC");
}

function bytesOf(character: string): string {
  const bytes = new TextEncoder().encode(character);
  return Array.from(bytes, (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
}

/** As many characters as leave room for a hash. */
function shortened(name: string): string {
  let bytes = 0;
  let kept = "";
  for (const character of name) {
    bytes += new TextEncoder().encode(character).length;
    if (bytes > NAME_BYTES_MAX - HASH_CHARACTERS - 1) break;
    kept += character;
  }
  return kept;
}

function folded(name: string): string {
  return name.normalize("NFKC").toLowerCase();
}
