import { afterAll, expect } from "bun:test";
import {
  closePlace,
  openPlace,
  RUNTIMES,
  readFirstKey,
  type ServerProcess,
  startReady,
} from "../../support/server-process.ts";
import { until } from "../../support/until.ts";
import { type BrowserPage, findBrowser, openPage } from "../../unit/security/support/browser.ts";
import { test } from "../support/process-test.ts";

/*
 * Goal: the documents' page works under its own policy, and asks no other host for anything. Method: a real browser
 * opens it, unfolds every fifth operation, enters a key and sends a request; the browser's complaints, and every
 * address that it asked for, are looked at. What its headers and HTML say is tested beside the routes.
 */

const program = findBrowser();
const place = openPlace();
let server: ServerProcess | null = null;
let page: BrowserPage | null = null;
afterAll(async () => {
  await page?.close();
  await closePlace(place);
});

/** Asks until the page says true: it draws when it likes. */
function untilTrue(expression: string): Promise<void> {
  return until(async () => (await page!.evaluate(expression)) === true);
}

const click = (expression: string) => page!.evaluate(`${expression}.click()`);

if (program !== null) {
  test("the page is drawn whole, takes a key and sends a request, and its policy refuses nothing of it", async () => {
    server = await startReady(RUNTIMES[0]!, place);
    page = await openPage(program);
    await page.open(`${server.url}/docs/ui`);
    await page.evaluate(
      `globalThis.refused = []; document.addEventListener("securitypolicyviolation", (event) => refused.push(event.violatedDirective + " " + event.blockedURI))`,
    );
    await untilTrue(`document.querySelectorAll(".opblock").length >= 12`);
    // The page takes a quarter of a second of processor time for each.
    await page.evaluate(`{
      const operations = [...document.querySelectorAll(".opblock")];
      operations.find((each) => each.textContent.includes("/api/v1/locations/current")).id = "tried";
      for (const each of operations.filter((each, index) => index % 5 === 0 || each.id === "tried"))
        each.querySelector(".opblock-summary-control").click();
    }`);
    await untilTrue(`document.querySelectorAll(".opblock.is-open .responses-table").length >= 12`);
    await untilTrue(`document.querySelector("#tried .responses-table") !== null`);

    await click(`document.querySelector(".btn.authorize")`);
    await untilTrue(`document.querySelector(".auth-container input") !== null`);
    await page.evaluate(`{
      const input = document.querySelector(".auth-container input");
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(input, ${JSON.stringify(readFirstKey(place))});
      input.dispatchEvent(new Event("input", { bubbles: true }));
    }`);
    await click(`document.querySelector(".auth-btn-wrapper .authorize")`);
    await click(`document.querySelector(".btn-done")`);

    await click(`document.querySelector("#tried .try-out__btn")`);
    await untilTrue(`document.querySelector("#tried .execute") !== null`);
    await click(`document.querySelector("#tried .execute")`);
    await untilTrue(
      `document.querySelector("#tried .live-responses-table tbody .response-col_status")?.textContent.startsWith("200") === true`,
    );

    expect(await page.evaluate("refused")).toEqual([]);
    expect(page.complaints).toEqual([]);
    expect(page.requested.length).toBeGreaterThan(6);
    for (const address of page.requested) expect(address).toMatch(new RegExp(`^(${server.url}/|data:)`));
    expect(page.requested.some((address) => address.includes("wh_"))).toBeFalse();
  });

  test("the policy is in force: the page runs no script of its own making, and reaches no other host", async () => {
    const tried = await page!.evaluate(`(async () => {
      const script = document.createElement("script");
      script.textContent = "globalThis.ran = true";
      document.body.append(script);
      let evaluated = true;
      try { new Function("return 1")(); } catch { evaluated = false; }
      const reached = await fetch("http://127.0.0.1:9/").then(() => true, () => false);
      const image = document.createElement("img");
      image.src = "https://elsewhere.example/x.png";
      document.body.append(image);
      const frame = document.createElement("iframe");
      frame.src = "/docs/ui";
      document.body.append(frame);
return { ran: globalThis.ran === true, evaluated, reached };
    })()`);
    await untilTrue(`refused.length >= 5`);
    const refused = (await page!.evaluate(`refused.map((each) => each.split(" ")[0])`)) as string[];
    expect(tried).toMatchObject({ ran: false, evaluated: false, reached: false });
    expect(new Set(refused)).toEqual(
      new Set(["connect-src", "frame-src", "img-src", "script-src", "script-src-elem"]),
    );
  });

  test("an answer that a browser shows as a page runs nothing, whatever an id in it says", async () => {
    const id = encodeURIComponent("<img src=x onerror=alert(1)><script>globalThis.ran=true</script>");
    const answer = await fetch(`${server!.url}/api/v1/devices/${id}/locations/current`, {
      headers: { authorization: `Bearer ${readFirstKey(place)}` },
    });
    expect(answer.headers.get("content-type")).toBe("application/json");
    await page!.open(`${server!.url}/api/v1/devices/${id}/locations/current`);
    expect(
      await page!.evaluate("[globalThis.ran === true, document.contentType, document.scripts.length]"),
    ).toEqual([false, "application/json", 0]);
  });
}
