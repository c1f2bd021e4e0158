import { assert } from "../../lib/assert.ts";

/*
 * Packs the modules that the page needs at first into one file: browsers have six connections to a server, so ninety
 * small files would take fifteen round trips before anything runs. Each module becomes a function that returns its
 * exports. A module comes after its imports, which is possible because no module imports itself indirectly.
 *
 * This is not a parser. It knows modules as this project writes them, and a test compares its results with a real one:
 * imports come first, and `export` stands before a declaration.
 */

export interface ModuleGraph {
  readonly texts: ReadonlyMap<string, string>;
  /** Paths of the modules that the first one needs, each after its imports. `import()` loads the others. */
  readonly needed: readonly string[];
  readonly packages: readonly string[];
}

/**
 * The match of `import("…")` includes the bracket. No name of a module has a character that would follow a text that
 * ends in one of these words, such as `"a file to import", "…"`.
 */
const SPECIFIERS = /(?:from|import(\()?)\s*"([\w@:./-]+)"/g;

/** Reads a module and all its direct and indirect imports; `read` returns a module's JavaScript. */
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

/** Resolves an import. The root has no parent, so no path leads out of it. */
export function pathFrom(from: string, target: string): string {
  return new URL(target, new URL(from, "page:/")).pathname.slice(1);
}

/** An import, with the comments before it. */
const IMPORT =
  /(?:\s|\/\/.*\n|\/\*[\s\S]*?\*\/)*import\s*(?:(?:([\w$]+)|\{([^}]*)\})\s*from\s*)?"([^"]+)";?/y;
const EXPORT = /(^|[;}\s])export\s+((?:async\s+)?(?:class|function\b\s*\*?|const|let)\s*)([\w$]+)/g;
const LATER = /\bimport\(\s*"(\.[^"]+)"\s*\)/g;

/** By path: the first module contains all needed ones, the others re-export from it. Late modules stay unchanged. */
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

/** The name of an imported module, static or dynamic, with the word before it. */
const SPECIFIER = /(from\s*|import\s*\(?\s*)"([\w@:./-]+)"/g;

/**
 * Rewrites a late module for a browser whose import failed: all its imports get new addresses, since the browser may
 * remember the old ones as failed. Modules that the page already runs keep their addresses.
 */
export function readdressed(path: string, text: string, { query, running, packages }: Readdressing): string {
  return text.replaceAll(SPECIFIER, (whole, before: string, target: string) => {
    const isOurs = target.startsWith(".");
    if (running.has(isOurs ? pathFrom(path, target) : target)) return whole;
    return `${before}"${isOurs ? target : packages[target]}${query}"`;
  });
}

export interface Readdressing {
  readonly query: string;
  /** The modules and packages that the page runs. */
  readonly running: ReadonlySet<string>;
  readonly packages: Readonly<Record<string, string>>;
}

function packModule(path: string, text: string, packages: readonly string[]) {
  const imports: string[] = [];
  let start = 0;
  for (IMPORT.lastIndex = 0; ; start = IMPORT.lastIndex) {
    const [, whole, names, target] = IMPORT.exec(text) ?? [];
    if (target === undefined) break;
    const source = target.startsWith(".")
      ? `modules["${pathFrom(path, target)}"]`
      : `package${packages.indexOf(target)}`;
    if (whole !== undefined) imports.push(`const { default: ${whole} } = ${source};`);
    if (names !== undefined) imports.push(`const { ${names.replaceAll(/\sas\s/g, ": ")} } = ${source};`);
  }
  const exported: string[] = [];
  const rest = text.slice(start).replaceAll(EXPORT, (_, before: string, kind: string, name: string) => {
    exported.push(name);
    return before + kind + name;
  });
  assert(!/(^|[;}\s])export[\s{*]/.test(rest), `${path} exports only in declarations`);
  const body = rest.replaceAll(
    LATER,
    (_, target: string) => `import(${specifierOf(pathFrom(path, target))})`,
  );
  return { body: `${imports.join(" ")}${body}`, exported };
}

/** The relative address of a module in another: all are one folder deep. */
function specifierOf(path: string): string {
  return JSON.stringify(`../${path}`);
}
