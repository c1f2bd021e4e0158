import { createHash } from "node:crypto";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { BunPlugin } from "bun";
import { assetPaths, ROOT } from "./assets.ts";

/*
 * One file that runs without anything else: Bun, the program, what it serves, and DuckDB's libraries. The program names
 * its own files by `import.meta`; in the executable those names lead to what is inside.
 */

export type Architecture = "x64" | "arm64";

export interface ExecutableOptions {
  readonly architecture: Architecture;
  readonly outfile: string;
  /** The Bun that the file begins with. */
  readonly bun: string;
  /** The folder of DuckDB's libraries. */
  readonly libraries: string;
}

export async function buildExecutable(options: ExecutableOptions): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), "wherehouse-release-"));
  try {
    await build(options, scratch);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

async function build(options: ExecutableOptions, scratch: string): Promise<void> {
  const { architecture, outfile, bun } = options;
  const built = await Bun.build({
    entrypoints: [join(ROOT, "deploy/release/entry.ts")],
    compile: {
      target: `bun-linux-${architecture}`,
      outfile,
      executablePath: bun,
      // Files of the folder in which it is started are not its settings.
      ...{
        autoloadDotenv: false,
        autoloadBunfig: false,
        autoloadTsconfig: false,
        autoloadPackageJson: false,
      },
    },
    define: { WHEREHOUSE_EXECUTABLE: "true" },
    minify: { whitespace: true, syntax: true },
    plugins: [embedding(options.libraries, scratch)],
  });
  if (!built.success) throw new AggregateError(built.logs, "the executable can't be built");
}

const NAMESPACE = "wherehouse";
const ZSTD_LEVEL = 12;
const LIBRARIES = ["libduckdb.so", "duckdb.node"];

function embedding(folder: string, scratch: string): BunPlugin {
  const libraryPaths = LIBRARIES.map((name) => join(folder, name));
  return {
    name: "embedding",
    setup(build) {
      build.onResolve({ filter: /^wherehouse:/ }, ({ path }) => ({ path, namespace: NAMESPACE }));
      build.onLoad({ filter: /./, namespace: NAMESPACE }, ({ path }) => ({
        contents:
          path === "wherehouse:embedded"
            ? librariesModule(libraryPaths, scratch)
            : filesModule(assetPaths(), scratch),
        loader: "js",
      }));
      build.onResolve({ filter: /^@duckdb\/node-bindings$/ }, () => ({
        path: join(ROOT, "deploy/release/binding.cjs"),
      }));
      build.onLoad({ filter: /\/src\/(?!web\/).*\.ts$/ }, ({ path }) => ({
        contents: withFilesInside(readFileSync(path, "utf8"), path.slice(ROOT.length)),
        loader: "ts",
      }));
    },
  };
}

/** Replaces `import.meta` of a module at a path from the project's folder. */
function withFilesInside(source: string, path: string): string {
  const url = JSON.stringify(`file://${path}`);
  const text = source
    .replaceAll("import.meta.url", url)
    .replaceAll(/import\.meta\.resolve\(/g, `resolveInside(${url}, `);
  return text === source ? source : `import { resolveInside } from "wherehouse:files";\n${text}`;
}

/*
 * Each module has a folder of its own for the files that it names: the bundler knows only those of a folder that were
 * there when it first looked.
 */

/** Libraries are packed, since they are read only once. */
function librariesModule(paths: readonly string[], scratch: string): string {
  const all = createHash("sha256");
  const folder = mkdtempSync(join(scratch, "libraries-"));
  const packed: string[] = [];
  const libraries = paths.map((path, index) => {
    const bytes = readFileSync(path);
    all.update(bytes);
    packed.push(join(folder, `${index}.zst`));
    writeFileSync(packed.at(-1)!, Bun.zstdCompressSync(bytes, { level: ZSTD_LEVEL }));
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    return `{ name: ${JSON.stringify(basename(path))}, packed: file${index}, sha256: "${sha256}" }`;
  });
  return `${importsOf(packed)}
export const libraries = [${libraries.join(", ")}];
export const librariesHash = "${all.digest("hex")}";
`;
}

/** Where a file is that a module names relative to itself, or by a package. */
function filesModule(paths: readonly string[], scratch: string): string {
  const folder = mkdtempSync(join(scratch, "files-"));
  const copies = paths.map((path, index) => copyTo(join(folder, `${index}.bin`), path));
  return `import { pathToFileURL } from "node:url";
${importsOf(copies)}
const files = new Map([${paths.map((path, index) => `["/${path}", file${index}]`).join(", ")}]);
export function resolveInside(from, specifier) {
  const isUrl = /^(\\.{1,2}\\/|file:)/.test(specifier);
  const { href, pathname } = new URL(isUrl ? specifier : "/node_modules/" + specifier, from);
  const inside = files.get(pathname);
  return inside === undefined ? href : pathToFileURL(inside).href;
}
`;
}

/** A module that the program imports itself can't be a file beside, but a copy of it can. */
function copyTo(copy: string, path: string): string {
  copyFileSync(join(ROOT, path), copy);
  return copy;
}

function importsOf(paths: readonly string[]): string {
  return paths
    .map((path, index) => `import file${index} from ${JSON.stringify(path)} with { type: "file" };`)
    .join("\n");
}
