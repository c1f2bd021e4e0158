import { expect, test } from "bun:test";
import { EXPORT_OPTIONS } from "../../../../src/cli/export/server-source.ts";
import { appExport } from "../../../../src/http/endpoints/app/export.ts";
import {
  askRetention,
  askServer,
  noAnswer,
  refusalText,
} from "../../../../src/operator/remote/ask-server.ts";

const URL = "http://h";

test("refusalText() has the options of the command where the server names its parameters", () => {
  const options = { start_date: "--from", end_date: "--to", limit: "--limit" };
  const said = (message: unknown) => refusalText(URL, 400, { message }, options);
  expect(said("start_date must not be after end_date")).toBe(
    "http://h answered 400: --from must not be after --to.",
  );
  expect(said("the limits of limit")).toBe("http://h answered 400: the limits of --limit.");
  expect(said("no start_dates, no my_end_date")).toBe(
    "http://h answered 400: no start_dates, no my_end_date.",
  );
  expect(said(7)).toBe("http://h answered 400.");
});

test("askServer() says a refusal in the words of the command", async () => {
  const ask = async () => Response.json({ message: "device_id is too long" }, { status: 400 });
  const told = await askServer({ url: URL, key: "wh_x" }, "GET", "/", ask, { device_id: "--device" });
  expect(told).toEqual({ ok: false, error: "http://h answered 400: --device is too long." });
});

test("askServer() signs in by a session as the map page does", async () => {
  const sent: HeadersInit[] = [];
  const ask = async (_url: string, { headers }: RequestInit) => {
    sent.push(headers!);
    return Response.json({});
  };
  await askServer({ url: URL, key: { cookieName: "c", text: "t" } }, "GET", "/", ask);
  await askServer({ url: URL, key: "wh_x" }, "GET", "/", ask);
  expect(sent).toEqual([{ cookie: "c=t", "x-wherehouse-page": "1" }, { authorization: "Bearer wh_x" }]);
});

test("every parameter of the server's export has an option of the command", () => {
  expect(Object.keys(EXPORT_OPTIONS).sort()).toEqual(Object.keys(appExport.query).sort());
});

/** What fetch throws where there is no answer, in words. */
async function refusalOf(url: string): Promise<string> {
  try {
    await fetch(url, { redirect: "error" });
  } catch (cause) {
    return noAnswer(url, cause);
  }
  throw new Error("it was answered");
}

test("a server that redirects, that has no TLS, or that is not there is told apart", async () => {
  const fetchRedirect = () => Response.redirect("https://here.example/", 301);
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: fetchRedirect });
  const host = `127.0.0.1:${server.port}`;
  expect(await refusalOf(`http://${host}`)).toBe(
    `http://${host} redirects, and a key must not follow: give the address that it redirects to.`,
  );
  expect(await refusalOf(`https://${host}`)).toBe(
    `https://${host} answers without TLS: did you mean http://?`,
  );
  await server.stop(true);
  expect(await refusalOf(`http://${host}`)).toBe(
    `No server answers at http://${host} (ECONNREFUSED); is it running there?`,
  );
});

test("what has no code is told without one", () => {
  expect(noAnswer("http://here.example", new Error("odd"))).toBe(
    "No server answers at http://here.example; is it running there?",
  );
});

const SERVER = { url: "http://here", key: "wh_x" };

function answering(body: unknown, status = 200) {
  return askRetention(SERVER, (url) => {
    expect(url).toBe("http://here/ready");
    return Promise.resolve(Response.json(body, { status }));
  });
}

test("askRetention() is told by /ready; a server of before that could be set keeps 365 days", async () => {
  expect(await answering({ status: "ready", retention: "10y" })).toMatchObject({
    ok: true,
    value: { text: "10y" },
  });
  expect(await answering({ status: "ready", damaged: 0 })).toMatchObject({
    ok: true,
    value: { text: "365d" },
  });
});

test("askRetention() fails with a sentence where the server starts, or says what this program doesn't know", async () => {
  expect(await answering({ status: "starting" }, 503)).toEqual({
    ok: false,
    error: "http://here answered 503.",
  });
  const error = "http://here has a retention that this program does not know.";
  expect(await answering({ retention: "3 moons" })).toEqual({ ok: false, error });
});
