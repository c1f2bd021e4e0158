import { readdirSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_FILES } from "../../src/http/page/packages.ts";

/** The project's folder. */
export const ROOT = join(import.meta.dir, "../..");

const SWAGGER_FILES = ["swagger-ui-bundle.js", "swagger-ui.css", "favicon-32x32.png"];

/** Files that the program reads while it runs, as paths from the project's folder. */
export function assetPaths(): string[] {
  return [
    ...filesBelow("src/web"),
    ...["page.css", "page.html", "page.js"].map((name) => `src/http/openapi/${name}`),
    ...SWAGGER_FILES.map((name) => `node_modules/swagger-ui-dist/${name}`),
    ...["data/map/world.pmtiles", "data/places/cities.tsv"],
    ...filesBelow("data/samples").filter((path) => path.endsWith(".csv.gz")),
    ...PACKAGE_FILES.map(({ specifier }) => specifier.slice(specifier.indexOf("node_modules/"))),
  ];
}

function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1))
    .sort();
}
