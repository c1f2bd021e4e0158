import { Elysia } from "elysia";
import swaggerUi from "swagger-ui-dist/package.json" with { type: "json" };
import type { Responder } from "../answer/responder.ts";
import { KeptBody } from "../body/kept-body.ts";
import type { Observe } from "../observe.ts";
import { describeDocs, describeDocsPage } from "../schema/describe.ts";

/** Reads a file by its URL, or a file of an installed package as `import.meta.resolve` names it. */
export type ReadAsset = (specifier: string) => Promise<Uint8Array>;

export interface DocsDependencies {
  readonly responder: Responder;
  readonly observe: Observe;
  readonly readAsset: ReadAsset;
  readonly document: () => Promise<object>;
}

interface Asset {
  readonly path: string;
  readonly specifier: string;
  readonly contentType: string;
  /** Whether the path names the version, so that what is there never changes. */
  readonly versioned: boolean;
}

/** Where the package's files are served, by version. */
const PACKAGE_PATH = `/docs/ui/${swaggerUi.version}`;

const HTML = "text/html; charset=utf-8";
const JAVASCRIPT = "text/javascript; charset=utf-8";
const CSS = "text/css; charset=utf-8";

const ASSETS: readonly Asset[] = [
  packageAsset("swagger-ui-bundle.js", JAVASCRIPT),
  packageAsset("swagger-ui.css", CSS),
  packageAsset("favicon-32x32.png", "image/png"),
  ownAsset("page.js", JAVASCRIPT),
  ownAsset("page.css", CSS),
];

const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:", // Icons in the style sheet are data URLs.
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** A browser may keep these, and asks each time whether they are still the same. */
const ASK_AGAIN = { "cache-control": "no-cache" };
const FOR_GOOD = { "cache-control": "public, max-age=31536000, immutable" };

/** Other sites neither embed these files nor reach into the page's window, and learn of no address here. */
const OURS_ALONE = {
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
};

/** The OpenAPI document, and a page for people that shows it without asking any other host. */
export function docsRoutes({ responder, observe, readAsset, document }: DocsDependencies) {
  const documentBody = new KeptBody(async () => encode(JSON.stringify(await document())));
  const pageBody = new KeptBody(async () => {
    const page = new TextDecoder().decode(await readAsset(ownFile("page.html")));
    return encode(page.replaceAll("{swagger-ui}", PACKAGE_PATH));
  });
  const answerDocument = observe("GET", "/docs", (request) => responder.kept(request, documentBody, {}));
  const answerPage = observe("GET", "/docs/ui", (request) =>
    responder.kept(request, pageBody, {
      ...ASK_AGAIN,
      "content-type": HTML,
      "content-security-policy": PAGE_POLICY,
      ...OURS_ALONE,
    }),
  );
  const routes = new Elysia()
    .get("/docs", ({ request }) => answerDocument(request), { detail: describeDocs })
    .get("/docs/ui", ({ request }) => answerPage(request), { detail: describeDocsPage });
  for (const { path, specifier, contentType, versioned } of ASSETS) {
    const body = new KeptBody(async () => new Uint8Array(await readAsset(specifier)));
    const headers = { ...(versioned ? FOR_GOOD : ASK_AGAIN), "content-type": contentType, ...OURS_ALONE };
    const answerAsset = observe("GET", path, (request) => responder.kept(request, body, headers));
    routes.get(path, ({ request }) => answerAsset(request), { detail: { hide: true } });
  }
  return routes;
}

function packageAsset(name: string, contentType: string): Asset {
  return {
    path: `${PACKAGE_PATH}/${name}`,
    specifier: `swagger-ui-dist/${name}`,
    contentType,
    versioned: true,
  };
}

function ownAsset(name: string, contentType: string): Asset {
  return { path: `/docs/ui/${name}`, specifier: ownFile(name), contentType, versioned: false };
}

function ownFile(name: string): string {
  return import.meta.resolve(`../docs-page/${name}`);
}

function encode(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
