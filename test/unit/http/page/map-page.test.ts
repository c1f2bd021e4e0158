import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { PACKAGE_FILES } from "../../../../src/http/page/packages.ts";
import { createTestApp } from "../../../support/test-app.ts";

const readAsset = (specifier: string) => Bun.file(new URL(import.meta.resolve(specifier))).bytes();
const app = await createTestApp({ readAsset });

const namedIn = (html: string) => [...html.matchAll(/"(\/map\/[^"#]+)"/g)].map(([, path]) => path!);

test("every file that the page names is there, to be kept for good", async () => {
  const answer = await app.fetch("/map");
  expect(answer.headers.get("cache-control")).toBe("no-cache");
  const paths = new Set(namedIn(await answer.text()));
  expect(paths.size).toBeGreaterThan(10);
  for (const path of paths) {
    const file = await app.fetch(path);
    expect([path, file.status]).toEqual([path, 200]);
    const isManifest = path === "/map/manifest.webmanifest";
    expect(file.headers.get("cache-control")).toContain(isManifest ? "no-cache" : "immutable");
    expect(file.headers.get("x-content-type-options")).toBe("nosniff");
    expect((await file.bytes()).length).toBeGreaterThan(0);
  }
});

test("a phone can install the page: its start is the map, and each icon has its size", async () => {
  const answer = await app.fetch("/map/manifest.webmanifest");
  expect(answer.headers.get("content-type")).toBe("application/manifest+json");
  const { id, start_url, scope, display, icons } = (await answer.json()) as Record<string, unknown> & {
    readonly icons: readonly Icon[];
  };
  expect({ id, start_url, scope, display }).toEqual({
    id: "/map",
    start_url: "/map", // Also for a visitor of a share link, whose address holds the key.
    scope: "/map",
    display: "standalone",
  });
  expect(icons.map(({ sizes, purpose = "any" }) => [sizes, purpose])).toEqual([
    ["any", "any"],
    ["192x192", "any"],
    ["512x512", "any"],
    ["512x512", "maskable"],
  ]);
  for (const { src, sizes, type } of icons) {
    const icon = await app.fetch(src);
    expect([icon.status, icon.headers.get("content-type")]).toEqual([200, type]);
    const bytes = Buffer.from(await icon.bytes());
    if (type === "image/png") expect(`${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}`).toBe(sizes);
  }
});

interface Icon {
  readonly src: string;
  readonly sizes: string;
  readonly type: string;
  readonly purpose?: string;
}

test("a share link opens the same page", async () => {
  expect(await (await app.fetch("/map/s")).text()).toBe(await (await app.fetch("/map")).text());
});

test("files of other versions, other names and other folders are not there", async () => {
  const html = await (await app.fetch("/map")).text();
  const [main = ""] = namedIn(html).filter((path) => path.endsWith("/page/main.ts"));
  const [, , , version = ""] = main.split("/");
  for (const path of [
    main.replace(version, "older"),
    main.replace("main.ts", "none.ts"),
    main.replace("page/main.ts", "..%2f..%2fmain.ts"),
    main.replace("page/main.ts", "%2e%2e/main.ts"),
    `/map/app/${version}/page/__proto__`,
  ]) {
    const { status, headers } = await app.fetch(path);
    expect([path, status]).toEqual([path, 404]);
    expect(headers.get("cache-control")).toBe("no-store");
  }
});

test("a worker may fetch tiles: it keeps to the policy of its own file", async () => {
  const [worker] = PACKAGE_FILES.filter(({ path }) => path.endsWith("-worker.mjs"));
  const policy = (await app.fetch(worker!.path)).headers.get("content-security-policy");
  expect(policy).toContain("connect-src 'self'");
});

test("every file of a package is there", () => {
  for (const { specifier } of PACKAGE_FILES) expect(existsSync(new URL(specifier)), specifier).toBeTrue();
});
