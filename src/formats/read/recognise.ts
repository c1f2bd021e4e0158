import { printableLine } from "../../lib/text/printable.ts";
import type { Beginning, Format } from "./format.ts";
import { EMPTY, FRAGMENT, GOOGLE_FILES, MAGIC_FILES, type NotHistory, OTHER_TEXTS } from "./not-history.ts";
import { OWN_FORMATS, type OwnFormat, recogniseOwn } from "./own-formats.ts";

/** What kind of file it is. */
export type Recognition =
  | { readonly kind: "history"; readonly format: Format | OwnFormat; readonly reason: string }
  | { readonly kind: "not_history"; readonly what: NotHistory };

/** Checked before the formats, which some files resemble, such as saved places in GeoJSON. */
const SURELY_NOT = [EMPTY, ...MAGIC_FILES, ...GOOGLE_FILES, ...OTHER_TEXTS];

/** What else a file is that surely has no positions; null if it may have some. */
export function findOther(beginning: Beginning): NotHistory | null {
  return SURELY_NOT.find((telltale) => telltale.tells(beginning)) ?? null;
}

/** The first matching format wins, unless the file's extension fits another match. */
export function recognise(beginning: Beginning, formats: readonly Format[]): Recognition {
  const other = findOther(beginning);
  if (other !== null) return { kind: "not_history", what: other };
  const own = recogniseOwn(beginning);
  if (own !== null) return { kind: "history", ...own };

  const matches: { format: Format; reason: string }[] = [];
  for (const format of formats) {
    const reason = format.recognise(beginning);
    if (reason !== null) matches.push({ format, reason });
  }
  const named = matches.find(({ format }) => format.extensions.some((end) => beginning.name.endsWith(end)));
  const best = named ?? matches[0];
  if (best !== undefined) return { kind: "history", ...best };
  const what = FRAGMENT.tells(beginning) ? FRAGMENT : unknown(beginning, formats);
  return { kind: "not_history", what };
}

function unknown(beginning: Beginning, formats: readonly Format[]): NotHistory {
  const names = [...new Set([...OWN_FORMATS, ...formats.map(({ name }) => name)])].join(", ");
  return {
    kind: /[^.]\.([a-z0-9]{1,10})$/.exec(beginning.name)?.[1] ?? "file without extension",
    answer: `has no known format: it begins with ${startOf(beginning)}; --format sets it: ${names}`,
  };
}

const QUOTED_CHARACTERS_MAX = 60;
const QUOTED_BYTES_MAX = 8;

/** A short quote by which the owner recognises the file. */
export function startOf({ bytes, text }: Beginning): string {
  const start = text.slice(0, QUOTED_CHARACTERS_MAX).split("\n", 1)[0]!.trimEnd();
  if (start !== "") return `"${printableLine(start)}"`;
  const hex = Array.from(bytes.subarray(0, QUOTED_BYTES_MAX), (byte) => byte.toString(16).padStart(2, "0"));
  return `the bytes ${hex.join(" ")}`;
}
