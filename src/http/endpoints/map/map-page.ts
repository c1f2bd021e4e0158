import { Buffer } from "node:buffer";
import { CachedBody } from "../../answer/compression.ts";
import { IMMUTABLE_CACHE, REVALIDATED_CACHE, SAME_ORIGIN_HEADERS } from "../../answer/headers.ts";
import { type Endpoint, hiddenEndpoint } from "../../endpoint.ts";
import { PACKAGE_FILES } from "../../page/packages.ts";
import { type PageFiles, readPageFiles } from "../../page/page-files.ts";
import { textSegment } from "../../parameters/path-parameter.ts";
import { pathnameOf } from "../../request.ts";
import type { Services } from "../../services.ts";

const HTML = "text/html; charset=utf-8";

/** Read on the first request, once per server. */
const pages = new WeakMap<Services, Promise<PageFiles>>();

function pageOf(services: Services): Promise<PageFiles> {
  let page = pages.get(services);
  if (page === undefined) {
    page = readPageFiles(services);
    page.catch(() => pages.delete(services)); // A failure is not cached.
    pages.set(services, page);
  }
  return page;
}

/** Share links open the same page, which reads their key after the `#`. */
const html: readonly Endpoint[] = ["/map", "/map/s"].map((path) =>
  hiddenEndpoint(path, (services, responder) => async (request) => {
    const page = await pageOf(services);
    return responder.cached(request, page.html, {
      ...REVALIDATED_CACHE,
      ...SAME_ORIGIN_HEADERS,
      "content-type": HTML,
      "content-security-policy": page.policy,
    });
  }),
);

/** Its address does not change: browsers fetch it again to see whether an installed page is still current. */
const manifest = hiddenEndpoint("/map/manifest.webmanifest", (services, responder) => async (request) => {
  const page = await pageOf(services);
  return responder.cached(request, page.manifest, {
    ...REVALIDATED_CACHE,
    ...SAME_ORIGIN_HEADERS,
    "content-type": "application/manifest+json",
  });
});

const segment = (example: string) => textSegment("A part of the path of a file.", example);

/** Every file of the page is in a folder. */
const ownFile = hiddenEndpoint(
  "/map/app/:version/:folder/:file",
  (services, responder) => async (request) => {
    const page = await pageOf(services);
    const [version, ...names] = pathnameOf(request.url).split("/").slice(3);
    const path = names.join("/");
    const again = /\?again=\d{1,9}$/.exec(request.url)?.[0];
    const find = () => (again === undefined ? page.files.get(path) : page.again(path, again));
    const file = version === page.version ? find() : undefined;
    if (file === undefined) return responder.failure(request, { kind: "no_such_path" }, {}, NOT_THERE);
    const { body, contentType } = file;
    return responder.cached(request, body, {
      ...IMMUTABLE_CACHE,
      ...SAME_ORIGIN_HEADERS,
      "content-type": contentType,
    });
  },
  { version: segment("0"), folder: segment("page"), file: segment("main.ts") },
);

const NOT_THERE = { success: false, message: "the map page has no such file now; load it again" };

const packageFiles: readonly Endpoint[] = PACKAGE_FILES.map(({ path, specifier, contentType, ending }) =>
  hiddenEndpoint(path, ({ readAsset }, responder) => {
    const body = new CachedBody(async () => Buffer.concat([await readAsset(specifier), Buffer.from(ending)]));
    const policy = { "content-security-policy": WORKER_POLICY };
    const headers = { ...IMMUTABLE_CACHE, ...SAME_ORIGIN_HEADERS, ...policy, "content-type": contentType };
    return (request) => responder.cached(request, body, headers);
  }),
);

/** A worker obeys the policy of its own file; MapLibre's worker loads the tiles. */
const WORKER_POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'; frame-ancestors 'none'";

export const mapPage: readonly Endpoint[] = [...html, manifest, ownFile, ...packageFiles];
