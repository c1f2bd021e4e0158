import { describe, expect, test } from "bun:test";
import swaggerUi from "swagger-ui-dist/package.json" with { type: "json" };
import { createTestApp } from "../../../support/test-app.ts";

const readAsset = (specifier: string) => Bun.file(new URL(import.meta.resolve(specifier))).bytes();
const app = await createTestApp({ readAsset });
const page = await app.fetch("/docs/ui");
const html = await page.text();

/** Addresses that the page names. */
const addresses = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address!);

describe("/docs", () => {
  test("is JSON that needs no key, and the same each time", async () => {
    const first = await app.fetch("/docs");
    const second = await app.fetch("/docs");
    expect(first.status).toBe(200);
    expect(first.headers.get("content-type")).toBe("application/json");
    expect(await first.json()).toEqual(await second.json());
  });

  test("is packed where the client takes it", async () => {
    const answer = await app.fetch("/docs", { headers: { "accept-encoding": "gzip" } });
    expect(answer.headers.get("content-encoding")).toBe("gzip");
    const unpacked = JSON.parse(new TextDecoder().decode(Bun.gunzipSync(await answer.bytes())));
    expect(unpacked.openapi).toBe("3.0.3");
  });

  test("is not sent again to who has it, plain or packed", async () => {
    for (const coding of ["identity", "gzip", "zstd"]) {
      const headers = { "accept-encoding": coding };
      const first = await app.fetch("/docs", { headers });
      const tag = first.headers.get("etag")!;
      for (const known of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
        const again = await app.fetch("/docs", { headers: { ...headers, "if-none-match": known } });
        expect([again.status, again.headers.get("etag"), await again.text()]).toEqual([304, tag, ""]);
      }
      const other = await app.fetch("/docs", { headers: { ...headers, "if-none-match": '"other"' } });
      expect(other.status).toBe(200);
      expect(await other.bytes()).toEqual(await first.bytes());
    }
    const tags = await Promise.all(
      ["identity", "gzip", "zstd"].map(async (coding) =>
        (await app.fetch("/docs", { headers: { "accept-encoding": coding } })).headers.get("etag"),
      ),
    );
    expect(new Set(tags).size).toBe(3); // Bodies that differ have tags that differ.
  });

  test("answers while the server starts", async () => {
    const starting = await createTestApp();
    starting.setReadiness({ status: "starting", replayed: 1, total: 2 });
    expect((await starting.fetch("/docs")).status).toBe(200);
  });
});

describe("/docs/ui", () => {
  test("is HTML that needs no key", () => {
    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  });

  test("lets the browser load from this server alone, and nothing from within the page", () => {
    const policy = Object.fromEntries(
      page.headers
        .get("content-security-policy")!
        .split("; ")
        .map((directive) => directive.split(/ (.*)/, 2)),
    );
    expect(policy).toEqual({
      "default-src": "'none'",
      "script-src": "'self'",
      "style-src": "'self'",
      "img-src": "'self' data:",
      "connect-src": "'self'",
      "base-uri": "'none'",
      "form-action": "'none'",
      "frame-ancestors": "'none'",
    });
    expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son\w+=/);
  });

  test("names no other host", () => {
    expect(addresses.length).toBeGreaterThan(4);
    for (const address of addresses) expect(address).toMatch(/^\/docs(\/|$)/);
  });

  test("names files that are there, each with its type and, where it is text, its charset", async () => {
    const types = new Map<string, string | null>();
    for (const address of addresses) {
      const answer = await app.fetch(address);
      expect(answer.status).toBe(200);
      types.set(address.replace(swaggerUi.version, "VERSION"), answer.headers.get("content-type"));
      expect((await answer.bytes()).length).toBeGreaterThan(0);
    }
    expect(Object.fromEntries(types)).toEqual({
      "/docs": "application/json",
      "/docs/ui/VERSION/favicon-32x32.png": "image/png",
      "/docs/ui/VERSION/swagger-ui.css": "text/css; charset=utf-8",
      "/docs/ui/VERSION/swagger-ui-bundle.js": "text/javascript; charset=utf-8",
      "/docs/ui/page.css": "text/css; charset=utf-8",
      "/docs/ui/page.js": "text/javascript; charset=utf-8",
    });
  });

  test("lets files be kept for good where their path names a version, and asked for again where not", async () => {
    for (const address of addresses.filter((candidate) => candidate !== "/docs")) {
      const kept = (await app.fetch(address)).headers.get("cache-control");
      const isVersioned = address.includes(swaggerUi.version);
      expect(kept).toBe(isVersioned ? "public, max-age=31536000, immutable" : "no-cache");
    }
  });

  test("sends nothing to the validator that the package asks by default", async () => {
    expect(await (await app.fetch("/docs/ui/page.js")).text()).toContain("validatorUrl: null");
  });

  test("reads no file before it is asked for", async () => {
    const read: string[] = [];
    const watched = await createTestApp({
      readAsset: (specifier) => {
        read.push(specifier);
        return readAsset(specifier);
      },
    });
    await watched.fetch("/docs");
    expect(read).toEqual([]);
    await watched.fetch("/docs/ui/page.css");
    expect(read).toEqual([expect.stringMatching(/^file:.*\/openapi\/page\.css$/)]);
  });

  test("reads and packs each file once, however often and in whatever coding it is asked for", async () => {
    const read: string[] = [];
    let failures = 1;
    const watched = await createTestApp({
      readAsset: async (specifier) => {
        read.push(specifier);
        if (failures-- > 0) throw new Error("no descriptor is left");
        return readAsset(specifier);
      },
    });
    const path = addresses.find((address) => address.endsWith("bundle.js"))!;
    expect((await watched.fetch(path)).status).toBe(500);
    const bodies = await Promise.all(
      ["identity", "gzip", "zstd", "identity", "gzip", "zstd"].map(async (coding) =>
        (await watched.fetch(path, { headers: { "accept-encoding": coding } })).bytes(),
      ),
    );
    expect(read).toHaveLength(2); // What failed is tried again.
    expect(bodies.slice(0, 3)).toEqual(bodies.slice(3));
    expect(Bun.gunzipSync(bodies[1]!)).toEqual(bodies[0]!);
    expect(Buffer.compare(Bun.zstdDecompressSync(bodies[2]!), bodies[0]!)).toBe(0);
  });
});
