import { createHash } from "node:crypto";
import { CachedBody } from "../answer/compression.ts";
import { IMPORT_MAP, MODULES, pathOf } from "./packages.ts";
import { type ModuleGraph, packModules, readdressed, readModuleGraph } from "./packed-modules.ts";

/*
 * The map page's own files, served almost as written: modules without their types, style sheets, icons, one HTML file,
 * and the manifest that lets a phone install the page.
 */

export interface PageSources {
  readonly readAsset: (specifier: string) => Promise<Uint8Array>;
  readonly stripTypes: (source: string) => string;
  /** The demo's time factor; null if devices are real. */
  readonly demoSpeed: number | null;
}

export interface PageFiles {
  readonly html: CachedBody;
  readonly manifest: CachedBody;
  readonly policy: string;
  /** Identifies all files together; content under it never changes. */
  readonly version: string;
  /** By path below `/map/app/VERSION/`. */
  readonly files: ReadonlyMap<string, PageFile>;
  /** A late module for a browser whose import failed; undefined if there is none at the path. */
  again(path: string, query: string): PageFile | undefined;
}

export interface PageFile {
  readonly body: CachedBody;
  readonly contentType: string;
}

const ROOT = new URL("../../web/", import.meta.url);
const FIRST_MODULE = "page/main.ts";

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  ".ts": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
};

export async function readPageFiles({ readAsset, stripTypes, demoSpeed }: PageSources): Promise<PageFiles> {
  const readBytes = (path: string) => readAsset(new URL(path, ROOT).href);
  const read = async (path: string) => new TextDecoder().decode(await readBytes(path));
  const manifest = await read("manifest.webmanifest");
  const { template, sheets } = await packSheets(await read("index.html"), read);
  const graph = await readModuleGraph(FIRST_MODULE, async (path) => stripTypes(await read(path)));
  const texts = packModules(FIRST_MODULE, graph);
  const pictures = new Map<string, Uint8Array<ArrayBuffer>>();
  for (const [, path, ending] of (template + manifest).matchAll(/\{app\}\/([\w/-]+\.(css|svg|png))/g)) {
    if (ending === "png") pictures.set(path!, new Uint8Array(await readBytes(path!)));
    else texts.set(path!, sheets.get(path!) ?? (await read(path!)));
  }

  const hash = createHash("sha256").update(template).update(IMPORT_MAP);
  for (const [path, text] of [...texts].sort()) hash.update(`\0${path}\0${text}`);
  for (const [path, bytes] of [...pictures].sort()) hash.update(`\0${path}\0`).update(bytes);
  const version = hash.digest("base64url").slice(0, 16);

  const app = `/map/app/${version}`;
  const html = template
    .replaceAll("{app}", app)
    .replaceAll("{maplibre.css}", pathOf("maplibre-gl", "dist/maplibre-gl.css"))
    .replace("<!-- modules -->", () => moduleTags(graph))
    .replace("<body>", demoSpeed === null ? "<body>" : `<body data-demo-speed="${demoSpeed}">`);
  const bodies = new Map([...texts].map(([path, text]) => [path, cachedText(text)]));
  for (const [path, bytes] of pictures) bodies.set(path, new CachedBody(async () => bytes));
  const files = [...bodies].map(([path, body]): [string, PageFile] => [
    path,
    { body, contentType: CONTENT_TYPES[path.slice(path.lastIndexOf("."))]! },
  ]);
  const running = new Set([FIRST_MODULE, ...graph.packages]);
  const again = (path: string, query: string) => {
    const text = texts.get(path);
    // The first module already runs. It is by far the largest, and each such request would compress it again.
    if (text === undefined || running.has(path) || !path.endsWith(".ts")) return undefined;
    const body = cachedText(readdressed(path, text, { query, running, packages: MODULES }));
    return { body, contentType: CONTENT_TYPES[".ts"]! };
  };
  return {
    html: cachedText(html),
    manifest: cachedText(manifest.replaceAll("{app}", app)),
    policy: pagePolicy(),
    version,
    files: new Map(files),
    again,
  };
}

/** The import map, and preloads of the packages that the first module needs, so that browsers load them early. */
function moduleTags({ packages }: ModuleGraph): string {
  // No module waits for MapLibre, but it is by far the largest file, so it loads while the others do.
  const paths = ["maplibre-gl", ...packages].map((name) => MODULES[name]!);
  const preloads = paths.map((path) => `<link rel="modulepreload" href="${path}">`);
  return [`<script type="importmap">${IMPORT_MAP}</script>`, ...preloads].join("\n    ");
}

function pagePolicy(): string {
  const importMap = createHash("sha256").update(IMPORT_MAP).digest("base64");
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${importMap}'`,
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

function cachedText(text: string): CachedBody {
  return new CachedBody(async () => new TextEncoder().encode(text));
}

/*
 * Consecutive style sheets of the HTML, sent as one file: browsers paint nothing before the last one arrives, and over
 * a slow network each further round trip delays that.
 */

const LINK = /<link rel="stylesheet" href="\{app\}\/([^"]+)">/g;
const LINKS = /(?:<link rel="stylesheet" href="\{app\}\/[^"]+">\s*)+/g;

export interface PackedSheets {
  readonly template: string;
  /** By path: the first sheet contains all that follow it. */
  readonly sheets: ReadonlyMap<string, string>;
}

async function packSheets(template: string, read: (path: string) => Promise<string>): Promise<PackedSheets> {
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
