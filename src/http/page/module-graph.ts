/** The modules of a page, as browsers are sent them, by path. */
export interface ModuleGraph {
  readonly texts: ReadonlyMap<string, string>;
  /** Paths of those that the first one can't do without, each after what it imports. `import()` names the others. */
  readonly needed: readonly string[];
  /** What those import by name. */
  readonly packages: readonly string[];
}

/** `import("…")` comes with its bracket. */
const IMPORT = /(?:from|import(\()?)\s*"([^"]+)"/g;

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
    for (const [, bracket, target] of text.matchAll(IMPORT)) {
      const isNeededToo = isNeeded && bracket === undefined;
      if (target!.startsWith(".")) await visit(pathFrom(path, target!), isNeededToo);
      else if (isNeededToo) packages.add(target!);
    }
    if (isNeeded) order.push(path);
  }

  await visit(first, true);
  return { texts, needed: order, packages: [...packages] };
}

/** The path that a module means by another's. Above the root there is nothing, so nobody gets out. */
export function pathFrom(from: string, target: string): string {
  return new URL(target, new URL(from, "page:/")).pathname.slice(1);
}
