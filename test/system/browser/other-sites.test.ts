import { expect } from "bun:test";
import { get, store } from "../support/client.ts";
import { setProfile } from "./support/devices.ts";
import { describePage, type Stage } from "./support/stage.ts";
import type { Visit } from "./support/visit.ts";

/*
 * Goal: no page but the server's own learns or changes anything by the cookie of who is signed in. Method: a page
 * of another server tries every way in that browsers have, from another port of the same host and from another site.
 */

/** What the other page says when it has tried everything: by way, what it got. */
const ATTEMPTS = `<!doctype html><title>other</title><body><script type="module">
const target = new URLSearchParams(location.search).get("target");
const paths = ["/api/v1/locations/current", "/api/v1/live", "/map/session", "/map/keys"];
const got = {};
const said = (promise) => promise.then((value) => value, (error) => "refused: " + error.name);
const element = (tag, attribute, value) => new Promise((resolve) => {
  const made = document.createElement(tag);
  made.onload = () => resolve("loaded");
  made.onerror = () => resolve("refused: error");
  made[attribute] = value;
  document.body.append(made);
});
for (const path of paths) {
  const url = target + path;
  got["fetch " + path] = await said(fetch(url, { credentials: "include" }).then((answer) => answer.text()));
  got["fetch with the header " + path] = await said(
    fetch(url, { credentials: "include", headers: { "x-wherehouse-page": "1" } }).then((answer) => answer.text()),
  );
  got["no-cors " + path] = await said(
    fetch(url, { credentials: "include", mode: "no-cors" }).then((answer) => answer.text()),
  );
  got["image " + path] = await element("img", "src", url);
  got["script " + path] = await element("script", "src", url);
  got["stream " + path] = await new Promise((resolve) => {
    const source = new EventSource(url, { withCredentials: true });
    source.onmessage = () => resolve("data");
    source.onerror = () => resolve("refused: error");
  });
}
for (const [path, method] of [["/map/session", "DELETE"], ["/map/keys", "POST"], ["/ingest/v1/locations", "POST"]])
  got[method + " " + path] = await said(
    fetch(target + path, { method, credentials: "include", mode: method === "POST" ? "no-cors" : "cors", body:
      method === "POST" ? JSON.stringify({ locations: [{ device_id: "evil", timestamp: Date.now(), latitude: 1, longitude: 1 }] })
      : undefined }).then((answer) => answer.text()),
  );
const profile = "/api/v1/devices/secret-van/profile";
for (const method of ["PUT", "DELETE"])
  for (const header of [{}, { "x-wherehouse-page": "1" }])
    got[method + " " + profile + Object.keys(header)] = await said(
      fetch(target + profile, { method, credentials: "include", headers: { "content-type": "application/json", ...header },
        body: method === "PUT" ? '{"name":"evil"}' : undefined }).then((answer) => answer.text()),
    );
globalThis.got = got;
</script>`;

/** Half of the work of a browser that opens the page. */
const NO_MAP = { webgl: false };

/** Of other ports, and of another site. */
const HOSTS = ["127.0.0.1", "evil.test"];

describePage(
  "other sites",
  (stage) => {
    stage.test(
      "get nothing, from another port or another site",
      async (visit, page) => {
        await visit.signIn(stage.key);
        visit.expect(/./); // Every refusal is a fault of the other page's.
        const answers = await watchAnswers(visit, stage.server.url);
        for (const host of HOSTS) await tryFrom(host, stage, visit, answers);
        // The user is still signed in, and no report and no name was stored.
        const current = await get(stage.client, "/api/v1/locations/current?names=true");
        const text = await current.text();
        expect(text).not.toContain("evil");
        expect(text).toContain("Anna's van");
        await visit.goto("/map");
        await page.getByRole("button", { name: "Menu" }).waitFor();
      },
      NO_MAP,
    );

    stage.test(
      "can't send a form, from another port or another site",
      async (visit) => {
        for (const host of HOSTS) await sendForms(host, stage, visit);
      },
      NO_MAP,
    );

    stage.test(
      "sign in over plain http on a LAN works",
      async (visit, page) => {
        visit.expect(/Cross-Origin-Opener-Policy header has been ignored/);
        await visit.goto("/map");
        expect(await page.evaluate(() => isSecureContext)).toBe(false);
        await page.getByLabel("Key", { exact: true }).fill(stage.key);
        await page.keyboard.press("Enter");
        await page.getByRole("button", { name: "Menu" }).waitFor();
        await page.reload();
        await page.getByRole("button", { name: "Menu" }).waitFor();
      },
      { host: "wherehouse.test", ...NO_MAP },
    );
  },
  {
    async prepare({ client }) {
      const report = { device_id: "secret-van", timestamp: Date.now(), latitude: 51.5, longitude: -0.12 };
      await store(client, [report]);
      await setProfile(client, "secret-van", { name: "Anna's van" });
    },
  },
);

async function tryFrom(host: string, { server }: Stage, visit: Visit, answers: Answer[]): Promise<void> {
  const other = Bun.serve({
    port: 0,
    fetch: () => new Response(ATTEMPTS, { headers: { "content-type": "text/html" } }),
  });
  answers.length = 0;
  try {
    await visit.page.goto(`http://${host}:${other.port}/?target=${encodeURIComponent(server.url)}`);
    const got = await visit.until("the attempts", () =>
      visit.page.evaluate(() => (globalThis as { got?: Record<string, string> }).got ?? null),
    );
    // An opaque answer is empty to the page, and was refused like the others.
    expect(Object.values(got).filter((text) => text !== "" && !text.startsWith("refused:"))).toEqual([]);
    expect(answers.length).toBeGreaterThan(10);
    expect(answers.filter(({ status }) => status < 400)).toEqual([]);
  } finally {
    await other.stop(true);
  }
}

interface Answer {
  readonly request: string;
  readonly status: number;
}

/** What the server answers to other pages than its own from now on, also where the browser keeps it from them. */
async function watchAnswers({ context, page }: Visit, url: string): Promise<Answer[]> {
  const answers: Answer[] = [];
  const requests = new Map<string, string>();
  const session = await context.newCDPSession(page);
  session.on("Network.requestWillBeSent", ({ requestId, request, documentURL }) => {
    if (request.url.startsWith(url) && !documentURL.startsWith(url))
      requests.set(requestId, `${request.method} ${request.url.slice(url.length)}`);
  });
  session.on("Network.responseReceivedExtraInfo", ({ requestId, statusCode: status }) => {
    const request = requests.get(requestId);
    if (request !== undefined) answers.push({ request, status });
  });
  await session.send("Network.enable");
  return answers;
}

async function sendForms(host: string, { server, client }: Stage, visit: Visit): Promise<void> {
  const form = (path: string) => `<form method="post" enctype="text/plain" action="${server.url}${path}">
    <input name='{"key":"${client.key}","x":"' value='"}'></form><script>document.forms[0].submit()</script>`;
  const other = Bun.serve({
    port: 0,
    fetch: ({ url }) =>
      new Response(form(new URL(url).pathname), { headers: { "content-type": "text/html" } }),
  });
  try {
    for (const path of ["/map/session", "/map/keys", "/ingest/v1/locations"]) {
      const answered = visit.page.waitForResponse((response) => response.url() === server.url + path);
      visit.expect(/Failed to load resource/, new RegExp(`request to http://${host}:${other.port}/`));
      await visit.page.goto(`http://${host}:${other.port}${path}`);
      expect((await answered).status(), path).toBeGreaterThanOrEqual(400);
    }
    expect(await visit.context.cookies(server.url)).toEqual([]);
  } finally {
    await other.stop(true);
  }
}
