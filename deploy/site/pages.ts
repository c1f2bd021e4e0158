import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, extname, join, relative } from "node:path";
import { ROOT } from "../release/assets.ts";

/* The pages of the site are those of the project: docs/README.md, and all that can be reached from it by links. */

export const FIRST_PAGE = "docs/README.md";

const PICTURES = new Set([".png", ".svg", ".webp"]);

export interface Pages {
  /** Their Markdown, by paths from the project's folder with `index.md` for `README.md`. */
  readonly texts: ReadonlyMap<string, string>;
  readonly pictures: ReadonlySet<string>;
  /** Files that pages link to as they are, by paths from the project's folder. */
  readonly files: ReadonlySet<string>;
}

export function readPages(): Pages {
  const texts = new Map<string, string>();
  const pictures = new Set<string>();
  const files = new Set<string>();
  const waiting = [FIRST_PAGE];
  for (let page = waiting.pop(); page !== undefined; page = waiting.pop()) {
    if (texts.has(nameOf(page))) continue;
    const folder = dirname(page);
    const text = withLinks(readFileSync(join(ROOT, page), "utf8"), (target) => {
      const [path = "", anchor] = target.split("#");
      if (/^https?:/.test(target) || path === "") return target;
      const file = fileAt(join(folder, path));
      const suffix = anchor === undefined ? "" : `#${anchor}`;
      if (file.endsWith(".md")) {
        waiting.push(file);
        return relativeTo(folder, nameOf(file)) + suffix;
      }
      if (PICTURES.has(extname(file))) {
        pictures.add(file);
        return relativeTo(folder, file);
      }
      files.add(file);
      return `/${plainTextOf(file)}`;
    });
    texts.set(nameOf(page), text);
  }
  return { texts, pictures, files };
}

/** A file under a name that browsers show. */
export function plainTextOf(path: string): string {
  return `${path}.txt`;
}

function nameOf(page: string): string {
  return page.replace(/README\.md$/, "index.md");
}

/** A folder stands for the page in it. */
function fileAt(path: string): string {
  const file = path.replace(/\/$/, "");
  if (!existsSync(join(ROOT, file))) throw new Error(`A page links to ${file}, which is not there`);
  return statSync(join(ROOT, file)).isDirectory() ? fileAt(join(file, "README.md")) : file;
}

function relativeTo(folder: string, path: string): string {
  const between = relative(folder, path);
  return between.startsWith(".") ? between : `./${between}`;
}

/** Replaces the targets of links, but not in code. */
function withLinks(text: string, replace: (target: string) => string): string {
  return text.replaceAll(/^```.*?^```$|`[^`]+`|\]\(([^)\s]+)\)/gms, (match, target?: string) =>
    target === undefined ? match : `](${replace(target)})`,
  );
}

interface SidebarGroup {
  readonly text: string;
  readonly items: readonly { readonly text: string; readonly link: string }[];
}

/** The groups and names of the table of contents, and the reference after them. */
export function sidebarOf(contents: string, reference: SidebarGroup): readonly SidebarGroup[] {
  const groups = contents.split(/^\| (?=[^|]+ \| \|$)/m).slice(1);
  const own = groups.map((group) => {
    const rows = [...group.matchAll(/^\| (.*?) \|/gm)].map(([, cell]) => cell!);
    const links = rows.flatMap((cell) => [...cell.matchAll(/\[([^\]]+)\]\(([^)#]+)\)/g)]);
    return {
      text: capitalized(group.slice(0, group.indexOf(" |"))),
      items: links.map(([, text = "", target = ""]) => ({ text: capitalized(text), link: linkOf(target) })),
    };
  });
  return [...own, reference];
}

function linkOf(target: string): string {
  return `/${nameOf(join(dirname(FIRST_PAGE), target)).replace(/(index)?\.md$/, "")}`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
