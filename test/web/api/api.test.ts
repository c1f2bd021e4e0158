import { afterEach, expect, spyOn, test } from "bun:test";
import { Api } from "../../../src/web/api/api.ts";
import type { ApiError } from "../../../src/web/api/api-error.ts";

const network = spyOn(globalThis, "fetch");
afterEach(() => network.mockReset());

/** What is thrown where the server answers so. */
async function failureOf(answer: Response): Promise<ApiError> {
  network.mockResolvedValue(answer);
  return (await new Api().get("/api/v1/devices").catch((error: unknown) => error)) as ApiError;
}

test("a failure says what the server says, and when to ask again", async () => {
  const failure = await failureOf(
    Response.json({ message: "Too many listen." }, { status: 503, headers: { "retry-after": "10" } }),
  );
  expect([failure.status, failure.message, failure.retryAfterSeconds]).toEqual([503, "Too many listen.", 10]);
});

test("a failure of somebody on the way says its status", async () => {
  const failure = await failureOf(new Response("<h1>Bad gateway</h1>", { status: 502 }));
  expect([failure.message, failure.retryAfterSeconds]).toEqual(["The server answered 502.", null]);
});

test("an answer that breaks off is a failure in our words, and one that was given up is none", async () => {
  expect(await failureOf(new Response('{"device'))).toMatchObject({
    name: "ApiError",
    message: "The server's answer was cut off.",
  });
  const givenUp = new DOMException("given up", "AbortError");
  const broken = new ReadableStream({ start: (controller) => controller.error(givenUp) });
  expect(await failureOf(new Response(broken))).toMatchObject({ name: "AbortError" });
  network.mockRejectedValue(givenUp);
  await expect(new Api().get("/api/v1/devices")).rejects.toBe(givenUp);
});

test("each page says which it is, so that it goes by its own session", async () => {
  const sent = async (api: Api) => {
    network.mockResolvedValue(Response.json({}));
    await api.get("/api/v1/devices");
    return new Headers(network.mock.lastCall?.[1]?.headers).get("x-wherehouse-page");
  };
  expect([await sent(new Api("map")), await sent(new Api("share"))]).toEqual(["1", "share"]);
});

test("a 401 signs out, and nothing else does", async () => {
  const api = new Api();
  let signedOut = 0;
  api.onSignedOut = () => signedOut++;
  for (const status of [403, 500, 401]) {
    network.mockResolvedValue(Response.json({ message: "No." }, { status }));
    await api.get("/api/v1/devices").catch(() => undefined);
  }
  expect(signedOut).toBe(1);
});
