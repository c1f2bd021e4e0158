import { type Answer, answerOf, type KeyName, type TestApp } from "../../../support/test-app.ts";

/** What our page sends besides its cookie, from a browser on this machine. */
export const OF_PAGE = { "x-wherehouse-page": "1", "sec-fetch-site": "same-origin" } as const;

/** The same, from the page that a share link leads to. */
export const OF_SHARE = { ...OF_PAGE, "x-wherehouse-page": "share" } as const;

const JSON_TYPE = { "content-type": "application/json" } as const;

/** A browser with our page open: keeps the cookie, as browsers do. */
export class Browser {
  cookie: string | null = null;
  readonly #fetch: TestApp["fetch"];

  constructor({ fetch }: Pick<TestApp, "fetch">) {
    this.#fetch = fetch;
  }

  /** One who is signed in. */
  static async signedIn(app: Pick<TestApp, "fetch" | "keys">, key: KeyName = "full"): Promise<Browser> {
    const browser = new Browser(app);
    const { status } = await browser.signIn({ key: app.keys[key] });
    if (status !== 200) throw new Error(`the key ${key} signs in, but got ${status}`);
    return browser;
  }

  signIn(body: unknown, headers: Readonly<Record<string, string>> = OF_PAGE): Promise<Answer> {
    return this.send("POST", "/map/session", body, headers);
  }

  get(path: string, headers: Readonly<Record<string, string>> = OF_PAGE): Promise<Answer> {
    return this.send("GET", path, undefined, headers);
  }

  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = OF_PAGE,
  ): Promise<Answer> {
    const sent = {
      ...(this.cookie === null ? {} : { cookie: this.cookie }),
      ...(body === undefined ? {} : JSON_TYPE),
      ...headers,
    };
    const init =
      body === undefined ? { method, headers: sent } : { method, headers: sent, body: textOf(body) };
    const response = await this.#fetch(path, init);
    const set = response.headers.get("set-cookie");
    if (set !== null) this.cookie = set.includes("Max-Age=0") ? null : set.split(";")[0]!;
    return answerOf(response);
  }
}

function textOf(body: unknown): string {
  return typeof body === "string" ? body : JSON.stringify(body);
}
