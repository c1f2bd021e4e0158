import { createHash } from "node:crypto";

/*
 * Names of files that an export is split into. A device may be called anything, `../../etc/passwd` too.
 */

/** Bytes of a name without its ending; file systems take 255 in all. */
const NAME_BYTES_MAX = 160;
const HASH_CHARACTERS = 8;

/** What stays as it is: letters and digits of any script, and what no shell or file system minds within a name. */
const PLAIN = /[\p{L}\p{N}._@+-]/u;
/** At the beginning these would hide the file, or be an option. */
const NOT_FIRST = /[.+-]/;

/** A name that begins like the device's, and none of another; `%41` stands for bytes as in URLs. */
export function fileNameOf(deviceId: string): string {
  const name = [...deviceId].map((character, index) => encoded(character, index === 0)).join("");
  if (new TextEncoder().encode(name).length <= NAME_BYTES_MAX) return name;
  const hash = createHash("sha256").update(deviceId).digest("hex").slice(0, HASH_CHARACTERS);
  return `${shortened(name)}~${hash}`;
}

function encoded(character: string, isFirst: boolean): string {
  const isPlain = PLAIN.test(character) && !(isFirst && NOT_FIRST.test(character));
  if (isPlain && character === character.normalize("NFC")) return character;
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

/**
 * Names that differ on every file system: some take `Bus` and `bus` for one, some a letter with its accent and the two
 * one after the other.
 */
export function distinctNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let distinct = name;
    for (let number = 2; taken.has(folded(distinct)); number++) distinct = `${name}~${number}`;
    taken.add(folded(distinct));
    return distinct;
  });
}

function folded(name: string): string {
  return name.normalize("NFKC").toLowerCase();
}
