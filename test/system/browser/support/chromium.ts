import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";

/** The browser that all tests of the page share. */

const NAMES = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/** The program: of the environment, else of the path; null where there is none, after one line that says so. */
export const chromiumPath = findChromium();

function findChromium(): string | null {
  const { CHROMIUM, PATH = "" } = process.env;
  if (CHROMIUM) return CHROMIUM;
  const paths = PATH.split(delimiter).flatMap((directory) => NAMES.map((name) => join(directory, name)));
  const found = paths.find((path) => existsSync(path)) ?? null;
  if (found === null)
    console.warn("Left out: the tests of the map page, since there is no chromium on the PATH.");
  return found;
}

/**
 * Without a graphics card the processor draws what WebGL is asked for. The rest of the page doesn't go that way too: as
 * if there were a card it would take as much time again.
 */
const SOFTWARE_WEBGL = [
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
  "--ignore-gpu-blocklist",
  "--disable-gpu-compositing",
];
/** Names that lead to this machine and yet aren't it, as browsers see it: another site, a host of the LAN. */
export const OTHER_HOSTS = "*.test";

const NO_WEBGL = ["--disable-gpu", "--disable-3d-apis"];

const browsers = new Map<boolean, Promise<Browser>>();

/** The browser with WebGL or without, started when it is first asked for. While it is open this process doesn't end. */
export function openChromium({ webgl = true } = {}): Promise<Browser> {
  let browser = browsers.get(webgl);
  if (browser === undefined) {
    browser = chromium.launch({
      executablePath: chromiumPath!,
      // Root, as in containers, can't have Chromium's sandbox; nothing is opened here but our own pages.
      args: [
        `--host-resolver-rules=MAP ${OTHER_HOSTS} 127.0.0.1`,
        ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
        ...(webgl ? SOFTWARE_WEBGL : NO_WEBGL),
      ],
    });
    browsers.set(webgl, browser);
  }
  return browser;
}

/** Ends the browsers that were opened; the next that is asked for is another. */
export async function closeChromium(): Promise<void> {
  const opened = [...browsers.values()];
  browsers.clear();
  for (const browser of opened) await (await browser).close();
}
