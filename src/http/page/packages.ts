import manifest from "../../../package.json" with { type: "json" };

/*
 * What the page takes of others, straight from node_modules: by an import map, at paths that name the version.
 */

/** A file of a package. */
export interface PackageFile {
  /** Where it is served. */
  readonly path: string;
  /** Its URL on the disk. */
  readonly specifier: string;
  readonly contentType: string;
  /** What is sent after it, where that makes a module of it. */
  readonly ending: string;
}

const JAVASCRIPT = "text/javascript; charset=utf-8";
const CSS = "text/css; charset=utf-8";

const MAPLIBRE = "maplibre-gl";
const LIT = "lit-html";
const UPLOT = "uplot";
const UQR = "uqr";

/** A script, half the size of the module that lies beside it. */
const UPLOT_SCRIPT = "dist/uPlot.iife.min.js";

/** Where modules are, by the names that the page's own import them by. */
export const MODULES: Readonly<Record<string, string>> = {
  [MAPLIBRE]: pathOf(MAPLIBRE, "dist/maplibre-gl.mjs"),
  "maplibre-gl/worker": pathOf(MAPLIBRE, "dist/maplibre-gl-worker.mjs"),
  [LIT]: pathOf(LIT, "lit-html.js"),
  "lit-html/directives/guard.js": pathOf(LIT, "directives/guard.js"),
  "lit-html/directives/live.js": pathOf(LIT, "directives/live.js"),
  "lit-html/directives/repeat.js": pathOf(LIT, "directives/repeat.js"),
  [UPLOT]: pathOf(UPLOT, UPLOT_SCRIPT),
  [UQR]: pathOf(UQR, "dist/index.mjs"),
};

export const PACKAGE_FILES: readonly PackageFile[] = [
  fileOf(MAPLIBRE, "dist/maplibre-gl.mjs"),
  fileOf(MAPLIBRE, "dist/maplibre-gl-worker.mjs"),
  fileOf(MAPLIBRE, "dist/maplibre-gl.css"),
  fileOf(LIT, "lit-html.js"),
  fileOf(LIT, "directive.js"),
  fileOf(LIT, "directive-helpers.js"),
  fileOf(LIT, "directives/guard.js"),
  fileOf(LIT, "directives/live.js"),
  fileOf(LIT, "directives/repeat.js"),
  fileOf(UPLOT, UPLOT_SCRIPT, "\nexport default uPlot;\n"),
  fileOf(UPLOT, "dist/uPlot.min.css"),
  fileOf(UQR, "dist/index.mjs"),
];

/** What the page's modules name by `import`, for browsers. */
export const IMPORT_MAP = JSON.stringify({ imports: MODULES });

/** Where a file of a package is served. */
export function pathOf(name: keyof typeof manifest.dependencies, file: string): string {
  return `/map/packages/${name}@${manifest.dependencies[name]}/${file}`;
}

function fileOf(name: keyof typeof manifest.dependencies, file: string, ending = ""): PackageFile {
  return {
    path: pathOf(name, file),
    specifier: new URL(`../../../node_modules/${name}/${file}`, import.meta.url).href,
    contentType: file.endsWith(".css") ? CSS : JAVASCRIPT,
    ending,
  };
}
