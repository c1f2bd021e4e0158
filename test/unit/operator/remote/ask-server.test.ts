import { expect, test } from "bun:test";
import { EXPORT_OPTIONS } from "../../../../src/cli/export/server-source.ts";
import { appExport } from "../../../../src/http/endpoints/app/export.ts";
import { askServer, refusalText } from "../../../../src/operator/remote/ask-server.ts";

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
