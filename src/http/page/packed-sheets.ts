/*
 * Style sheets that follow one another in the HTML, sent as one file: nothing is painted before the last of them is
 * there, and from far away each turn of the few connections that browsers have is a moment of nothing.
 */

const LINK = `<link rel="stylesheet" href="\\{app\\}/([^"]+)">`;
const LINKS = new RegExp(`${LINK}(?:\\s*${LINK})*`, "g");

export interface PackedSheets {
  /** The HTML, with one link in place of several. */
  readonly template: string;
  /** By path: the first sheet is all that follow it. */
  readonly sheets: ReadonlyMap<string, string>;
}

/** `read` gives a sheet's text. */
export async function packSheets(
  template: string,
  read: (path: string) => Promise<string>,
): Promise<PackedSheets> {
  const sheets = new Map<string, string>();
  for (const [links] of template.matchAll(LINKS)) {
    const paths = [...links.matchAll(new RegExp(LINK, "g"))].map(([, path]) => path!);
    sheets.set(paths[0]!, (await Promise.all(paths.map(read))).join("\n"));
  }
  return { template: template.replaceAll(LINKS, `<link rel="stylesheet" href="{app}/$1">`), sheets };
}
