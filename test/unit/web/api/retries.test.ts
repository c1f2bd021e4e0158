import { expect, test } from "bun:test";
import { ApiError } from "../../../../src/web/api/api-error.ts";
import { backoffMs, Retries } from "../../../../src/web/api/retries.ts";
import { rejection } from "../../../support/rejection.ts";

test("backoffMs() doubles up to half a minute, and chance takes off half at most", () => {
  expect([1, 2, 3, 5, 6, 50].map((failures) => backoffMs(failures, null, 1))).toEqual([
    1000, 2000, 4000, 16_000, 30_000, 30_000,
  ]);
  expect(backoffMs(3, null, 0)).toBe(2000);
});

test("backoffMs() is never less than what the server asks for", () => {
  expect(backoffMs(1, 10, 0)).toBe(10_000);
  expect(backoffMs(6, 10, 1)).toBe(30_000);
});

const NEVER_MS = 1_000_000;

/** Answers that come one after another, and what was said between them. */
function asking(answers: readonly (ApiError | string)[], pauseMs = 0) {
  const paused: string[] = [];
  const given = new AbortController();
  const retries = new Retries(() => pauseMs);
  let asked = 0;
  const { promise: pausing, resolve: onFirstPause } = Promise.withResolvers<void>();
  const answered = retries.ask(
    async () => {
      const answer = answers[asked++]!;
      if (answer instanceof ApiError) throw answer;
      return answer;
    },
    {
      signal: given.signal,
      onPause: ({ message }) => {
        paused.push(message);
        onFirstPause();
      },
    },
  );
  return { retries, answered, paused, pausing, giveUp: () => given.abort() };
}

const unreached = new ApiError(0, "No answer.");
const ours = (status: number) => new ApiError(status, `Ours: ${status}.`, { isOurs: true });
const strangers = (status: number) => new ApiError(status, `The server answered ${status}.`);

test("ask() goes on until there is an answer, whatever stands in for our server", async () => {
  const failures = [
    unreached,
    ...[401, 403, 404, 405, 429, 502, 504].map(strangers),
    ...[429, 503].map(ours),
  ];
  const { answered, paused } = asking([...failures, "yes"]);
  expect(await answered).toBe("yes");
  expect(paused).toEqual(failures.map(({ message }) => message));
});

test("ask() throws what our server refuses", async () => {
  for (const status of [400, 401, 403, 404, 405, 409]) {
    const refusal = ours(status);
    expect(await rejection(asking([unreached, refusal]).answered)).toBe(refusal);
  }
});

test("wake() ends every pause at once", async () => {
  const { retries, answered, pausing } = asking([unreached, "yes"], NEVER_MS);
  await pausing;
  retries.wake();
  expect(await answered).toBe("yes");
});

test("a pause that is over leaves no listener on its signal", async () => {
  const { signal } = new AbortController();
  const listeners = new Set<unknown>();
  signal.addEventListener = (_: string, listener: unknown) => listeners.add(listener);
  signal.removeEventListener = (_: string, listener: unknown) => listeners.delete(listener);
  const seen: number[] = [];
  await new Retries(() => 0).pause(1, null, signal, () => seen.push(listeners.size));
  expect([seen, listeners.size]).toEqual([[1], 0]);
});

test("a question that is given up while it waits is not asked again", async () => {
  const { answered, pausing, giveUp } = asking([unreached, "yes"], NEVER_MS);
  await pausing;
  giveUp();
  expect(await rejection(answered)).toMatchObject({ name: "AbortError" });
});
