import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContext, ConsoleMessage, Page, Request } from "playwright-core";
import { until } from "../../../support/until.ts";
import { keepPage, type PageOptions, takePage } from "./kept-pages.ts";

/** For what should be there in a moment, on a machine that has much else to do. */
const WAIT_MS = 45_000; // The browser stands back for all tests beside it, and draws by the processor.

/** Where pictures of failed tests are kept. */
const PICTURES = join(import.meta.dir, "../failed");

export type VisitOptions = PageOptions;

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
  readonly #options: VisitOptions;
  #expected: readonly RegExp[] = [];

  private constructor(url: string, page: Page, options: VisitOptions) {
    this.url = url;
    this.context = page.context();
    this.page = page;
    this.#options = options;
    this.context.on("request", this.#onRequest);
    page.on("console", this.#onConsole);
    page.on("pageerror", this.#onError);
  }

  static async open(url: string, given: VisitOptions = {}): Promise<Visit> {
    const options: VisitOptions = {
      viewport: { width: 1280, height: 800 },
      // The processor draws every pixel of every frame: let there be few of either.
      deviceScaleFactor: 0.5,
      reducedMotion: "reduce",
      locale: "en-GB",
      timezoneId: "UTC",
      ...given,
    };
    const page = await takePage(options);
    page.context().setDefaultTimeout(WAIT_MS);
    return new Visit(url, page, options);
  }

  /** From here on these faults are what the test wants, such as a server that can't be reached. */
  expect(...faults: readonly RegExp[]): void {
    this.#expected = [...this.#expected, ...faults];
  }

  /** Signs in as the page does, and opens it. */
  async enter(key: string, path = "/map"): Promise<void> {
    await this.signIn(key);
    await this.goto(path);
  }

  async signIn(key: string): Promise<void> {
    const response = await this.context.request.post(`${this.url}/map/session`, {
      headers: { "x-wherehouse-page": "1" },
      data: { key },
    });
    if (!response.ok()) throw new Error(`signing in: ${response.status()} ${await response.text()}`);
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
    let value: Value | false | null = null;
    await until(async () => {
      value = await ask();
      if (value === false || value === null) {
        if (performance.now() > endMs) throw new Error(`${what}: not within ${waitMs} ms`);
        return false;
      }
      return true;
    });
    return value as Value;
  }

  /** Keeps a picture of what is shown, and says where. */
  async keepPicture(title: string): Promise<string> {
    mkdirSync(PICTURES, { recursive: true });
    const path = join(PICTURES, `${title.replace(/[^\w.-]+/g, "-").slice(0, 120)}.png`);
    await this.page.screenshot({ path });
    return path;
  }

  /** Leaves the page for the next visit. */
  async end(): Promise<void> {
    this.context.off("request", this.#onRequest);
    this.page.off("console", this.#onConsole);
    this.page.off("pageerror", this.#onError);
    await keepPage(this.#options, this.page);
  }

  /** The page is nobody's any more. */
  async close(): Promise<void> {
    await this.context.close();
  }

  readonly #onRequest = (request: Request): void => {
    const { origin, protocol, pathname } = new URL(request.url());
    if (origin === this.url) this.requests.push(`${request.method()} ${pathname}`);
    else if (!["data:", "blob:"].includes(protocol)) this.#note(`request to ${request.url()}`);
  };

  readonly #onConsole = (message: ConsoleMessage): void => {
    if (message.type() === "error") this.#note(`console: ${message.text()} (${message.location().url})`);
  };

  readonly #onError = (error: Error): void => {
    this.#note(`error: ${error.stack ?? error.message}`);
  };

  #note(fault: string): void {
    if (!this.#expected.some((expected) => expected.test(fault))) this.faults.push(fault);
  }
}
