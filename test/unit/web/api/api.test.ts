import { afterAll, afterEach, expect, jest, spyOn, test } from "bun:test";
import { Api } from "../../../../src/web/api/api.ts";
import type { ApiError } from "../../../../src/web/api/api-error.ts";
import { rejection } from "../../../support/rejection.ts";

const network = spyOn(globalThis, "fetch");
afterEach(() => network.mockReset());
afterAll(() => network.mockRestore());

/** What is thrown where the server answers so. */
async function failureOf(answer: Response, api = new Api()): Promise<ApiError> {
  network.mockResolvedValue(answer);
  return (await api.get("/api/v1/devices").catch((error: unknown) => error)) as ApiError;
}

function refusal(message: string, error?: string) {
  return { success: false, message, ...(error === undefined ? {} : { error }) };
}

test("a failure says what the server says, and when to ask again", async () => {
  const failure = await failureOf(
    Response.json(refusal("Too many listen."), { status: 503, headers: { "retry-after": "10" } }),
  );
  expect([failure.status, failure.message, failure.retryAfterSeconds]).toEqual([503, "Too many listen.", 10]);
  expect(failure.isOurs).toBe(true);
});

test("a failure of somebody on the way says its status", async () => {
  const failure = await failureOf(new Response("<h1>Bad gateway</h1>", { status: 502 }));
  expect([failure.message, failure.retryAfterSeconds]).toEqual(["The server answered 502.", null]);
  expect(failure.isOurs).toBe(false);
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
  expect(await rejection(new Api().get("/api/v1/devices"))).toBe(givenUp);
});

test("each page says which it is, so that it goes by its own session", async () => {
  const sent = async (api: Api) => {
    network.mockResolvedValue(Response.json({}));
    await api.get("/api/v1/devices");
    return new Headers(network.mock.lastCall?.[1]?.headers).get("x-wherehouse-page");
  };
  expect([await sent(new Api("map")), await sent(new Api("share"))]).toEqual(["1", "share"]);
});

test("a refusal is our server's alone: JSON of a gateway is not, and a status that asks for another try is not", async () => {
  const isRefusal = async (status: number, body: unknown) =>
    (await failureOf(Response.json(body, { status }))).isRefusal;
  for (const status of [400, 401, 403, 404, 405, 409])
    expect([status, await isRefusal(status, refusal("no"))]).toEqual([status, true]);
  for (const status of [408, 425, 429, 500, 502, 503])
    expect([status, await isRefusal(status, refusal("later"))]).toEqual([status, false]);
  for (const body of [{ message: "no Route matched with those values" }, { success: false }, [], null, "x"])
    expect([body, await isRefusal(404, body)]).toEqual([body, false]);
});

test("a 401 of our server signs out and says why, and nothing else does", async () => {
  const api = new Api();
  const reasons: (string | null)[] = [];
  api.onSignedOut = ({ errorName }) => reasons.push(errorName);
  const answers = [
    Response.json(refusal("No."), { status: 403 }),
    Response.json({ message: "Unauthorized" }, { status: 401 }),
    new Response("<h1>Sign in to the network</h1>", { status: 401 }),
    Response.json(refusal("the API key was revoked", "REVOKED_API_KEY"), { status: 401 }),
  ];
  for (const answer of answers) await failureOf(answer, api);
  expect(reasons).toEqual(["REVOKED_API_KEY"]);
});

test("a server that never begins its answer is not reached", async () => {
  jest.useFakeTimers();
  try {
    network.mockImplementation(
      ((_: string, { signal }: RequestInit) =>
        new Promise((_, reject) => {
          signal!.addEventListener("abort", () => reject(signal!.reason));
        })) as typeof fetch,
    );
    const asked = new Api().get("/api/v1/devices").catch((error: unknown) => error);
    jest.advanceTimersByTime(60_000);
    expect(await asked).toMatchObject({ name: "ApiError", status: 0 });
  } finally {
    jest.useRealTimers();
  }
});
