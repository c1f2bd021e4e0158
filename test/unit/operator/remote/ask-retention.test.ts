import { expect, test } from "bun:test";
import { askRetention } from "../../../../src/operator/remote/ask-retention.ts";

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
