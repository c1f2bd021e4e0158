import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { openChromium } from "./chromium.ts";

/** For what should be there in a moment, on a machine that has much else to do. */
const WAIT_MS = 15_000;

/** Where pictures of failed tests are kept. */
const PICTURES = join(import.meta.dir, "../failed");

export interface VisitOptions extends BrowserContextOptions {
  readonly webgl?: boolean;
}

/** Somebody's visit to a server's page, with cookies of its own, and everything that went wrong on it. */
export class Visit {
  /** Of the server, as this browser knows it. */
  readonly url: string;
  readonly context: BrowserContext;
  readonly page: Page;
  /** Requests to other hosts, refusals by the policy, errors on the console and errors that nobody caught. */
  readonly faults: string[] = [];
  /** What each request to the server was for, in order: method and path. */
  readonly requests: string[] = [];
  #expected: readonly RegExp[] = [];

  private constructor(url: string, context: BrowserContext, page: Page) {
    this.url = url;
    this.context = context;
    this.page = page;
    context.on("request", (request) => {
      const { origin, protocol, pathname } = new URL(request.url());
      if (origin === url) this.requests.push(`${request.method()} ${pathname}`);
      else if (!["data:", "blob:"].includes(protocol)) this.#note(`request to ${request.url()}`);
    });
    page.on("console", (message) => {
      if (message.type() === "error") this.#note(`console: ${message.text()} (${message.location().url})`);
    });
    page.on("pageerror", (error) => this.#note(`error: ${error.stack ?? error.message}`));
  }

  static async open(url: string, { webgl = true, ...options }: VisitOptions = {}): Promise<Visit> {
    const browser = await openChromium({ webgl });
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      locale: "en-GB",
      timezoneId: "UTC",
      ...options,
    });
    context.setDefaultTimeout(WAIT_MS);
    return new Visit(url, context, await context.newPage());
  }

  /** From here on these faults are what the test wants, such as a server that can't be reached. */
  expect(...faults: readonly RegExp[]): void {
    this.#expected = [...this.#expected, ...faults];
  }

  /** Signs in as the page does, and opens it. */
  async enter(key: string, path = "/map"): Promise<void> {
    const response = await this.context.request.post(`${this.url}/map/session`, {
      headers: { "x-wherehouse-page": "1" },
      data: { key },
    });
    if (!response.ok()) throw new Error(`signing in: ${response.status()} ${await response.text()}`);
    await this.goto(path);
  }

  async goto(path: string): Promise<void> {
    await this.page.goto(`${this.url}${path}`, { waitUntil: "load" });
  }

  /** Waits until the function, asked again and again, gives something that is neither false nor null. */
  async until<Value>(
    what: string,
    ask: () => Promise<Value | false | null>,
    waitMs = WAIT_MS,
  ): Promise<Value> {
    const endMs = performance.now() + waitMs;
    for (;;) {
      const value = await ask();
      if (value !== false && value !== null) return value;
      if (performance.now() > endMs) throw new Error(`${what}: not within ${waitMs} ms`);
      await Bun.sleep(30);
    }
  }

  /** Keeps a picture of what is shown, and says where. */
  async keepPicture(title: string): Promise<string> {
    mkdirSync(PICTURES, { recursive: true });
    const path = join(PICTURES, `${title.replace(/[^\w.-]+/g, "-").slice(0, 120)}.png`);
    await this.page.screenshot({ path });
    return path;
  }

  async close(): Promise<void> {
    await this.context.close();
  }

  #note(fault: string): void {
    if (!this.#expected.some((expected) => expected.test(fault))) this.faults.push(fault);
  }
}
