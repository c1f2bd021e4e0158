import { expect, test } from "bun:test";
import { CachedBody } from "../../../../src/http/answer/compression.ts";
import { MODULES, PACKAGE_FILES } from "../../../../src/http/page/packages.ts";
import { readModuleGraph } from "../../../../src/http/page/packed-modules.ts";
import { readPageFiles } from "../../../../src/http/page/page-files.ts";
import { createStripTypes } from "../../../../src/runtime/strip-types.ts";

/** Of all code that shows the map, its worker too, as it goes over the line. */
const CODE_BYTES_MAX = 560_000;

/** What the page begins with, and what it loads for the map. */
const SHOW_THE_MAP = ["page/main.ts", "map/create-map.ts"];

/** Plots, QR codes and the drawing tool come when they are asked for. */
const LATER = ["uplot", "uqr", "terra-draw", "terra-draw-maplibre-gl-adapter"].map((name) => MODULES[name]);

const readAsset = (specifier: string) => Bun.file(new URL(specifier)).bytes();
const stripTypes = createStripTypes();

test("the code that shows the map is at most 560 kB packed, its worker among it", async () => {
  const { files } = await readPageFiles({ readAsset, stripTypes, demoSpeed: null });
  const readModule = async (path: string) =>
    stripTypes(await Bun.file(new URL(`../../../../src/web/${path}`, import.meta.url)).text());
  const graphs = await Promise.all(SHOW_THE_MAP.map((first) => readModuleGraph(first, readModule)));
  const paths = new Set(graphs.flatMap(({ needed }) => needed));
  expect(paths.size).toBeGreaterThan(10);
  const modules = [...paths].map((path) => files.get(path)!.body);
  const packages = PACKAGE_FILES.filter(
    ({ path, contentType }) => contentType.startsWith("text/javascript") && !LATER.includes(path),
  ).map(({ specifier }) => new CachedBody(() => readAsset(specifier)));
  let packedBytes = 0;
  for (const body of [...modules, ...packages]) packedBytes += (await body.in("gzip")).bytes.length;
  expect(packedBytes).toBeLessThanOrEqual(CODE_BYTES_MAX);
});
