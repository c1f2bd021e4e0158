import type { NotHistory } from "../../formats/read/not-history.ts";

/*
 * Files that are not opened because of their location or name.
 */

const HIDDEN: NotHistory = { kind: "hidden", answer: "is hidden; give it by its name to import it" };

const DESKTOP_SETTINGS: NotHistory = { kind: ".DS_Store", answer: "is how a Mac shows a folder, no history" };

export const LINK: NotHistory = {
  kind: "link",
  answer: "is a link, and those in folders are not followed; give what it leads to",
};

export const NO_FILE: NotHistory = {
  kind: "pipe or device",
  answer: "is no file; give it by its name to read it",
};

export const KMZ_EXTRA: NotHistory = {
  kind: "beside a KMZ's KML",
  answer: "is not the first KML of its KMZ, which is the one that counts",
};

export const OFFICE: NotHistory = {
  kind: "document",
  answer: "is a document of an office program; save the table in it as CSV",
};

/** What a file in a folder or an archive is, by its name alone; null if its content decides. */
export function leftAloneByName(name: string, folders: readonly string[]): NotHistory | null {
  if (name === ".DS_Store") return DESKTOP_SETTINGS;
  if (name.startsWith(".") || folders.includes("__MACOSX")) return HIDDEN;
  return null;
}
