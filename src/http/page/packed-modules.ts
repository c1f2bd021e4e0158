import { assert } from "../../lib/assert.ts";

/*
 * The modules that the page needs at first, sent in one file: browsers have six connections to a server, so that ninety
 * small files would be fifteen round trips before anything runs. Each module becomes a function that returns its
 * exports. None comes before what it imports, since no module of ours imports itself by way of others.
 *
 * This is no parser. It knows modules as ours are written, and a test holds what it makes of each against a real one:
 * imports come first, and `export` stands before what is declared.
 */

/** The modules of a page, as browsers are sent them, by path. */
export interface ModuleGraph {
  readonly texts: ReadonlyMap<string, string>;
  /** Paths of those that the first one can't do without, each after what it imports. `import()` names the others. */
  readonly needed: readonly string[];
  /** What those import by name. */
  readonly packages: readonly string[];
}

/** `import("…")` comes with its bracket. */
const SPECIFIERS = /(?:from|import(\()?)\s*"([^"]+)"/g;

/** Reads the module and all that it imports in the end; `read` gives a module's JavaScript. */
export async function readModuleGraph(
  first: string,
  read: (path: string) => Promise<string>,
): Promise<ModuleGraph> {
  const texts = new Map<string, string>();
  const needed = new Set<string>();
  const order: string[] = [];
  const packages = new Set<string>();

  async function visit(path: string, isNeeded: boolean): Promise<void> {
    if (texts.has(path) && (!isNeeded || needed.has(path))) return;
    if (isNeeded) needed.add(path);
    const text = texts.get(path) ?? (await read(path));
    texts.set(path, text);
    for (const [, bracket, target] of text.matchAll(SPECIFIERS)) {
      const isNeededToo = isNeeded && bracket === undefined;
      if (target!.startsWith(".")) await visit(pathFrom(path, target!), isNeededToo);
      else if (isNeededToo) packages.add(target!);
    }
    if (isNeeded) order.push(path);
  }

  await visit(first, true);
  return { texts, needed: order, packages: [...packages] };
}

/** The path that a module means by another's. Nothing lies above the root, so no path leads out. */
export function pathFrom(from: string, target: string): string {
  return new URL(target, new URL(from, "page:/")).pathname.slice(1);
}

/** An import, with the comments before it. */
const IMPORT =
  /(?:\s|\/\/.*\n|\/\*[\s\S]*?\*\/)*import\s*(?:(?:([\w$]+)|\{([^}]*)\})\s*from\s*)?"([^"]+)";?/y;
const EXPORT = /(^|[;}\s])export\s+((?:async\s+)?(?:class|function\b\s*\*?|const|let)\s*)([\w$]+)/g;
const LATER = /\bimport\(\s*"(\.[^"]+)"\s*\)/g;

/** By path: the first module is all of them, and the others give out what it has. Those for later stay as they are. */
export function packModules(first: string, { texts, needed, packages }: ModuleGraph): Map<string, string> {
  const lines = packages.map((name, index) => `import * as package${index} from "${name}";`);
  lines.push("const modules = {};");
  const packed = new Map(texts);
  for (const path of needed) {
    const { body, exported } = packModule(path, texts.get(path)!, packages);
    lines.push(`modules["${path}"] = (() => {${body}\nreturn { ${exported.join(", ")} };\n})();`);
    const names = `export const { ${exported.join(", ")} } = modules["${path}"];`;
    packed.set(path, `import { modules } from ${specifierOf(first)};\n${names}\n`);
  }
  lines.push("export { modules };\n");
  return packed.set(first, lines.join("\n"));
}

/** The name of each module that a module imports, at once or later, with the word before the name. */
const SPECIFIER = /(from\s*|import\s*\(?\s*)"([^"]+)"/g;

/**
 * Changes a late module for a browser that could not load it: everything that it imports gets another address too,
 * since the browser may remember any of the old ones as failed. What the page already runs keeps its address.
 */
export function readdressed(path: string, text: string, { query, running, packages }: Readdressing): string {
  return text.replaceAll(SPECIFIER, (whole, before: string, target: string) => {
    const isOurs = target.startsWith(".");
    if (running.has(isOurs ? pathFrom(path, target) : target)) return whole;
    return `${before}"${isOurs ? target : packages[target]}${query}"`;
  });
}

export interface Readdressing {
  /** Added to each address. */
  readonly query: string;
  /** The modules and packages that the page has. */
  readonly running: ReadonlySet<string>;
  /** Addresses of packages by name. */
  readonly packages: Readonly<Record<string, string>>;
}

function packModule(path: string, text: string, packages: readonly string[]) {
  const taken: string[] = [];
  let start = 0;
  for (IMPORT.lastIndex = 0; ; start = IMPORT.lastIndex) {
    const [, whole, names, target] = IMPORT.exec(text) ?? [];
    if (target === undefined) break;
    const source = target.startsWith(".")
      ? `modules["${pathFrom(path, target)}"]`
      : `package${packages.indexOf(target)}`;
    if (whole !== undefined) taken.push(`const { default: ${whole} } = ${source};`);
    if (names !== undefined) taken.push(`const { ${names.replaceAll(/\sas\s/g, ": ")} } = ${source};`);
  }
  const exported: string[] = [];
  const rest = text.slice(start).replaceAll(EXPORT, (_, before: string, kind: string, name: string) => {
    exported.push(name);
    return before + kind + name;
  });
  assert(!/(^|[;}\s])export[\s{*]/.test(rest), `${path} exports what it declares, where it does`);
  const body = rest.replaceAll(
    LATER,
    (_, target: string) => `import(${specifierOf(pathFrom(path, target))})`,
  );
  return { body: `${taken.join(" ")}${body}`, exported };
}

/** How a module names another: all of them are one folder deep. */
function specifierOf(path: string): string {
  return JSON.stringify(`../${path}`);
}
