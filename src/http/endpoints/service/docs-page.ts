import swaggerUi from "swagger-ui-dist/package.json" with { type: "json" };
import { CachedBody } from "../../answer/compression.ts";
import { IMMUTABLE_CACHE, REVALIDATED_CACHE, SAME_ORIGIN_HEADERS } from "../../answer/headers.ts";
import { type Endpoint, hiddenEndpoint, openEndpoint } from "../../endpoint.ts";

/* The page that shows the API document: Swagger UI and a few files of this project. */

interface Asset {
  readonly path: string;
  readonly specifier: string;
  readonly contentType: string;
  /** Whether the path has the version, so that its content never changes. */
  readonly versioned: boolean;
}

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

/** The document as a page for people. It loads nothing from other hosts. */
export const docsPage = openEndpoint({
  operationId: "getDocumentPage",
  tag: "Service",
  summary: "This document as a page for people",
  description: "Everything it needs comes from this server.",
  path: "/docs/ui",
  answer: {
    description: "A page that shows the document and can send requests.",
    contentType: "text/html",
    schema: { type: "string" },
  },
  open({ readAsset }, responder) {
    const body = new CachedBody(async () => {
      const page = new TextDecoder().decode(await readAsset(ownFile("page.html")));
      return new TextEncoder().encode(page.replaceAll("{swagger-ui}", PACKAGE_PATH));
    });
    const headers = {
      ...REVALIDATED_CACHE,
      "content-type": HTML,
      "content-security-policy": PAGE_POLICY,
      ...SAME_ORIGIN_HEADERS,
    };
    return (request) => responder.cached(request, body, headers);
  },
});

export const docsAssets: readonly Endpoint[] = ASSETS.map(({ path, specifier, contentType, versioned }) =>
  hiddenEndpoint(path, ({ readAsset }, responder) => {
    const body = new CachedBody(async () => new Uint8Array(await readAsset(specifier)));
    const headers = {
      ...(versioned ? IMMUTABLE_CACHE : REVALIDATED_CACHE),
      "content-type": contentType,
      ...SAME_ORIGIN_HEADERS,
    };
    return (request) => responder.cached(request, body, headers);
  }),
);

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
  return import.meta.resolve(`../../openapi/${name}`);
}
