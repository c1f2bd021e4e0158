import { createHash } from "node:crypto";
import { percentDecoded } from "../lib/text/percent.ts";

/*
 * File names for devices: `export --split device` writes them, and `import` reads the device from the name. A device id
 * may be any text, even `../../etc/passwd`.
 */

/** The maximum size of a name without extension; file systems allow 255 bytes in all. */
const NAME_BYTES_MAX = 160;
const HASH_CHARACTERS = 8;

/** Characters that stay: letters and digits of any script, and punctuation that is safe in shells and file systems. */
const PLAIN = /[\p{L}\p{N}._@+-]/u;
/** At the start of a name these would hide the file, or look like an option. */
const NOT_FIRST = /[.+-]/;

/**
 * Returns a file name without extension for each device, in order: the device's own characters, with `%41` for a byte
 * as in URLs. Names differ on every file system: some treat `Bus` and `bus` as equal, or composed and decomposed
 * accents, so more characters of the later name are escaped. A name that is too long is cut, with a hash at its end;
 * `deviceNameOf` can't read that back.
 */
export function fileNamesOf(deviceIds: readonly string[]): string[] {
  const usedNames = new Set<string>();
  return deviceIds.map((deviceId) => {
    let name = fileNameOf(deviceId, 0);
    for (let escaped = 1; usedNames.has(folded(name)) && escaped <= deviceId.length; escaped++)
      name = fileNameOf(deviceId, escaped);
    usedNames.add(folded(name));
    return name;
  });
}

/** The device that a file is named after; a name without escapes is the device. */
export function deviceNameOf(fileName: string): string {
  return percentDecoded(fileName) ?? fileName; // A percent sign of another program.
}

/** Escapes at least the first `escapedMin` characters. */
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

/** Cuts a name so that a hash fits. */
function shortened(name: string): string {
  let bytes = 0;
  let start = "";
  for (const character of name) {
    bytes += new TextEncoder().encode(character).length;
    if (bytes > NAME_BYTES_MAX - HASH_CHARACTERS - 1) break;
    start += character;
  }
  return start;
}

function folded(name: string): string {
  return name.normalize("NFKC").toLowerCase();
}
