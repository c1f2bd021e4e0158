/*
 * Style sheets that follow one another in the HTML, sent as one file: nothing is painted before the last of them is
 * there, and from far away each turn of the few connections that browsers have is a moment of nothing.
 */

const LINK = /<link rel="stylesheet" href="\{app\}\/([^"]+)">/g;
const LINKS = /(?:<link rel="stylesheet" href="\{app\}\/[^"]+">\s*)+/g;

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
  const pathsOf = (links: string) => [...links.matchAll(LINK)].map(([, path]) => path!);
  for (const [links] of template.matchAll(LINKS)) {
    const paths = pathsOf(links);
    sheets.set(paths[0]!, (await Promise.all(paths.map(read))).join("\n"));
  }
  return {
    template: template.replaceAll(
      LINKS,
      (links) => `<link rel="stylesheet" href="{app}/${pathsOf(links)[0]!}">`,
    ),
    sheets,
  };
}
