import { afterAll, beforeAll, expect } from "bun:test";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { violationsOf } from "../browser/support/axe.ts";
import { chromiumPath, closeChromium, openChromium } from "../browser/support/chromium.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: the documentation site is whole, asks no other host for anything, and everybody can read it. Method: it is
 * built as a reader would build it; its files are read, and Chromium opens each page from a server of files.
 */

const ROOT = join(import.meta.dir, "../../..");

const site = mkdtempSync(join(tmpdir(), "wherehouse-site-"));
let pages: readonly string[];
let server: ReturnType<typeof Bun.serve>;

beforeAll(() => {
  const built = spawnSync(process.execPath, ["deploy/site/main.ts", "--out", site], {
    cwd: ROOT,
    encoding: "utf8",
  });
  expect([built.status, built.stderr]).toEqual([0, expect.stringContaining("The site is in ")]);
  const files = readdirSync(site, { recursive: true, encoding: "utf8" });
  pages = files.filter((path) => path.endsWith(".html")).sort();
  server = Bun.serve({
    port: 0,
    fetch: ({ url }) => {
      const { pathname } = new URL(url);
      const path = join(site, pathname.endsWith("/") ? `${pathname}index.html` : pathname);
      return existsSync(path) ? new Response(Bun.file(path)) : new Response("", { status: 404 });
    },
  });
}, 120_000);

afterAll(async () => {
  await server.stop(true);
  rmSync(site, { recursive: true });
});

/** What a page names: by `a` it links, by anything else it loads. */
function namedBy(page: string): readonly { readonly isLink: boolean; readonly target: string }[] {
  const html = readFileSync(join(site, page), "utf8");
  return [...html.matchAll(/<(\w+)\s[^>]*?(?:href|src)="([^"]*)"/g)].map(([, tag, target]) => ({
    isLink: tag === "a",
    target: target!.replaceAll("&amp;", "&"),
  }));
}

function anchorsOf(page: string): ReadonlySet<string> {
  return new Set([...readFileSync(join(site, page), "utf8").matchAll(/ id="([^"]*)"/g)].map(([, id]) => id!));
}

test("every page of docs is there, with the reference of the API", () => {
  const own = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".md"))
    .map((path) => `docs/${path.replace("README.md", "index.md").replace(".md", ".html")}`);
  expect(own.filter((path) => !pages.includes(path))).toEqual([]);
  expect(readFileSync(join(site, "docs/api/nearby.html"), "utf8")).toContain("/api/v1/devices/nearby");
});

test("links lead to pages, headings and files that are there, and nothing is loaded from elsewhere", () => {
  const faults: string[] = [];
  let linkCount = 0;
  for (const page of pages) {
    for (const { isLink, target } of namedBy(page)) {
      const url = new URL(target, `http://site/${page}`);
      if (url.protocol === "data:") continue;
      if (url.host !== "site") {
        if (!isLink) faults.push(`${page} loads ${target}`);
        continue;
      }
      linkCount++;
      const path = decodeURI(url.pathname).slice(1);
      const file = path === "" || path.endsWith("/") ? `${path}index.html` : path;
      const anchor = decodeURIComponent(url.hash.slice(1));
      if (!existsSync(join(site, file))) faults.push(`${page} names ${target}`);
      else if (anchor !== "" && !anchorsOf(file).has(anchor)) faults.push(`${page} names ${target}`);
    }
  }
  expect(linkCount).toBeGreaterThan(1000);
  expect(faults).toEqual([]);
});

/** A page of the browser that notes what it asks of other hosts and what fails on it. */
async function openNoting(browser: Browser, faults: string[]): Promise<Page> {
  const page = await browser.newPage();
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (/^https?:$/.test(protocol) && origin !== server.url.origin) faults.push(request.url());
  });
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(`${page.url()}: ${message.text()}`);
  });
  return page;
}

/** Pages that axe reads: of those of the API, which are alike and long, only some. */
function readByAxe(path: string): boolean {
  return path !== "404.html" && (!path.startsWith("docs/api/") || /(index|nearby)\.html$/.test(path));
}
/** Pages with all that there is: code in several languages, tables, pictures, quotes. */
const AT_NIGHT = ["index.html", "docs/clients.html", "docs/map.html", "docs/api/nearby.html"];

async function violationsIn(paths: readonly string[], colorScheme: "light" | "dark"): Promise<string[]> {
  const faults: string[] = [];
  const page = await openNoting(await openChromium(), faults);
  await page.emulateMedia({ colorScheme });
  for (const path of paths) {
    await page.goto(new URL(path, server.url).href);
    for (const fault of await violationsOf(page)) faults.push(`${path}: ${fault}`);
  }
  await page.close();
  return faults;
}

test.if(chromiumPath !== null)("axe has nothing against the pages of docs", async () => {
  const paths = pages.filter((path) => /^docs\/[^/]+$/.test(path));
  expect(paths.length).toBeGreaterThan(20);
  expect(await violationsIn(paths, "light")).toEqual([]);
});

test.if(chromiumPath !== null)("axe has nothing against other pages, nor against some at night", async () => {
  const paths = pages.filter((path) => !/^docs\/[^/]+$/.test(path) && readByAxe(path));
  expect(await violationsIn(paths, "light")).toEqual([]);
  expect(await violationsIn(AT_NIGHT, "dark")).toEqual([]);
});

test.if(chromiumPath !== null)("search finds a page by its words, on a phone too", async () => {
  const faults: string[] = [];
  const page = await openNoting(await openChromium(), faults);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(server.url.href, { waitUntil: "networkidle" });
  for (const fault of await violationsOf(page)) faults.push(fault);
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByRole("searchbox").fill("webhook signature");
  await page.getByRole("option").first().waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/docs\/(api\/)?webhooks\.html/);
  await page.close();
  await closeChromium();
  expect(faults).toEqual([]);
});
