import manifest from "../../../package.json" with { type: "json" };

/* Packages that the page uses, served directly from node_modules through an import map, at versioned paths. */

export interface PackageFile {
  readonly path: string;
  /** Its URL on the disk. */
  readonly specifier: string;
  readonly contentType: string;
  /** Text appended to it, if that is needed to make it a module. */
  readonly ending: string;
}

const JAVASCRIPT = "text/javascript; charset=utf-8";
const CSS = "text/css; charset=utf-8";

const MAPLIBRE = "maplibre-gl";
const LIT = "lit-html";
const UPLOT = "uplot";
const UQR = "uqr";
const DRAW = "terra-draw";
const DRAW_ADAPTER = "terra-draw-maplibre-gl-adapter";

/** A script, half the size of the package's module. */
const UPLOT_SCRIPT = "dist/uPlot.iife.min.js";

/** The addresses of modules, by the names that the page's own modules import. */
export const MODULES: Readonly<Record<string, string>> = {
  [MAPLIBRE]: pathOf(MAPLIBRE, "dist/maplibre-gl.mjs"),
  "maplibre-gl/worker": pathOf(MAPLIBRE, "dist/maplibre-gl-worker.mjs"),
  [LIT]: pathOf(LIT, "lit-html.js"),
  "lit-html/directives/guard.js": pathOf(LIT, "directives/guard.js"),
  "lit-html/directives/live.js": pathOf(LIT, "directives/live.js"),
  "lit-html/directives/repeat.js": pathOf(LIT, "directives/repeat.js"),
  [UPLOT]: pathOf(UPLOT, UPLOT_SCRIPT),
  [UQR]: pathOf(UQR, "dist/index.mjs"),
  [DRAW]: pathOf(DRAW, "dist/terra-draw.modern.js"),
  [DRAW_ADAPTER]: pathOf(DRAW_ADAPTER, "dist/terra-draw-maplibre-gl-adapter.modern.js"),
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
  fileOf(DRAW, "dist/terra-draw.modern.js"),
  fileOf(DRAW_ADAPTER, "dist/terra-draw-maplibre-gl-adapter.modern.js"),
];

export const IMPORT_MAP = JSON.stringify({ imports: MODULES });

export function pathOf(name: keyof typeof manifest.dependencies, file: string): string {
  return `/map/packages/${name}@${manifest.dependencies[name]}/${file}`;
}

function fileOf(name: keyof typeof manifest.dependencies, file: string, ending = ""): PackageFile {
  return {
    path: pathOf(name, file),
    specifier: `${folderOf(name)}/${file}`,
    contentType: file.endsWith(".css") ? CSS : JAVASCRIPT,
    ending,
  };
}

/** The folder of a package, which is another's `node_modules` if this program is itself installed as a package. */
function folderOf(name: string): string {
  const module = import.meta.resolve(name);
  const folder = `/node_modules/${name}`;
  return module.slice(0, module.lastIndexOf(folder) + folder.length);
}
