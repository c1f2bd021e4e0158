import { expect, jest, test } from "bun:test";
import { inShortTurns, LongAnswers } from "../../../../src/http/answer/turns.ts";
import { nextTurn } from "../../../../src/lib/schedule/timers.ts";
import type { CurrentQueries } from "../../../../src/service/queries/current.ts";
import { rejection } from "../../../support/rejection.ts";
import { createTestApp } from "../../../support/test-app.ts";

const LONG_MS = 100;

function createClocked() {
  let nowMs = 0;
  const answers = new LongAnswers(() => nowMs);
  let made = 0;
  return {
    ask: (appId: string, takesMs: number) =>
      answers.make(appId, () => {
        nowMs += takesMs;
        made++;
        return new Response(String(made));
      }),
    get made() {
      return made;
    },
  };
}

test("LongAnswers makes one long answer of an app in a turn, and short ones of others meanwhile", async () => {
  const clocked = createClocked();
  const all = Array.from({ length: 5 }, () => clocked.ask("slow", LONG_MS));
  const byTurn = [clocked.made];
  while (clocked.made < 5) {
    await nextTurn();
    byTurn.push(clocked.made);
  }
  expect(Math.max(...byTurn.map((made, turn) => made - (byTurn[turn - 1] ?? 0)).slice(1))).toBe(1);
  expect(byTurn[0]).toBeLessThanOrEqual(2); // The first tells that it is long, the second waits for nobody.
  expect(clocked.ask("quick", 0)).toBeInstanceOf(Response);
  expect(await Promise.all(all.map(async (answer) => (await answer).text()))).toEqual([
    "1",
    "2",
    "3",
    "4",
    "5",
  ]);
});

test("LongAnswers has nobody wait for what another's answer waits for", async () => {
  let nowMs = 0;
  const answers = new LongAnswers(() => (nowMs += LONG_MS)); // All take long.
  const { promise, resolve } = Promise.withResolvers<Response>();
  answers.make("crowd", () => new Response());
  answers.make("other", () => new Response());
  const waiting = answers.make("crowd", () => promise);
  expect(await (await answers.make("other", () => new Response("there"))).text()).toBe("there");
  resolve(new Response("at last"));
  expect(await (await waiting).text()).toBe("at last");
});

test("LongAnswers passes on the failure of an answer that failed within its turn", async () => {
  let nowMs = 0;
  const answers = new LongAnswers(() => (nowMs += LONG_MS)); // All take long.
  answers.make("app", () => new Response());
  // Bun's runner fails the test if a rejection is handled too late.
  const error = await rejection(answers.make("app", () => Promise.reject(new Error("the client left"))));
  expect(error).toEqual(new Error("the client left"));
});

test("LongAnswers answers an app at once again after an answer that was short", async () => {
  const clocked = createClocked();
  await clocked.ask("app", LONG_MS);
  const next = clocked.ask("app", 0);
  expect(next).toBeInstanceOf(Promise);
  await next;
  await nextTurn();
  await clocked.ask("app", 0);
  expect(clocked.ask("app", 0)).toBeInstanceOf(Response);
});

test("LongAnswers makes no other long answer in a turn for a short one that came between", async () => {
  const clocked = createClocked();
  const asked = [LONG_MS, 0, LONG_MS, 0, LONG_MS, 0, LONG_MS];
  const all: (Response | Promise<Response>)[] = [];
  for (const takesMs of asked) {
    all.push(clocked.ask("app", takesMs));
    await Promise.resolve(); // Still in this turn.
    await Promise.resolve();
  }
  expect(clocked.made).toBeLessThanOrEqual(3);
  await Promise.all(all);
  expect(clocked.made).toBe(asked.length);
});

test("LongAnswers makes all that wait in one turn, once one of them was short", async () => {
  const clocked = createClocked();
  const all = [LONG_MS, LONG_MS, ...Array.from({ length: 50 }, () => 0)].map((takesMs) =>
    clocked.ask("app", takesMs),
  );
  const byTurn = [clocked.made];
  while (clocked.made < all.length) {
    await nextTurn();
    byTurn.push(clocked.made);
  }
  expect(byTurn.at(-2)).toBeLessThanOrEqual(3);
  expect(byTurn.at(-1)).toBe(52);
});

test("LongAnswers puts off an app's answers that are not long, where they are many", async () => {
  const clocked = createClocked();
  const all = Array.from({ length: 50 }, () => clocked.ask("app", 3));
  const byTurn = [clocked.made];
  expect(clocked.ask("other", 3)).toBeInstanceOf(Response);
  while (clocked.made <= all.length) {
    await nextTurn();
    byTurn.push(clocked.made);
  }
  const most = Math.max(...byTurn.map((made, turn) => made - (byTurn[turn - 1] ?? 0)));
  expect(most).toBeLessThanOrEqual(4);
  await Promise.all(all);
  expect(clocked.ask("app", 3)).toBeInstanceOf(Response);
});

test("pages of any kind that come together are not all made in one turn, of several endpoints either", async () => {
  let nowMs = 0;
  using _clock = jest.spyOn(performance, "now").mockImplementation(() => nowMs);
  let asked = 0;
  const unasked = () => {
    throw new Error("nobody asks for that");
  };
  const take3Ms = () => {
    asked++;
    nowMs += 3;
  };
  const ofApp: CurrentQueries["ofApp"] = (_appId, _query, _client, show) => {
    take3Ms();
    return show({ page: null, total: 0 });
  };
  const ofUser: CurrentQueries["ofUser"] = (_appId, _userId, _query, _client, show) => {
    take3Ms();
    return show(null);
  };
  const app = await createTestApp({ current: { ofApp, ofDevice: unasked, ofUser } });
  const headers = { authorization: `Bearer ${app.keys.full}` };
  const paths = ["/api/v1/locations/current", "/api/v1/users/anna/locations/current"];
  const ask = (index: number) =>
    app.answer(new Request(`http://localhost${paths[index % paths.length]}`, { headers }));
  const answers = Array.from({ length: 20 }, (_, index) => ask(index));
  const byTurn = [asked];
  while (asked < answers.length) {
    await nextTurn();
    byTurn.push(asked);
  }
  const most = Math.max(...byTurn.map((made, turn) => made - (byTurn[turn - 1] ?? 0)));
  expect(most).toBeLessThanOrEqual(4);
  const statuses = answers.map(async (answer) => (await answer).status);
  expect(new Set(await Promise.all(statuses))).toEqual(new Set([200]));
});

const REQUEST = new Request("http://localhost/");

test("inShortTurns() answers 250 requests of those that come at once, and the rest in turns after", async () => {
  let answered = 0;
  const fetch = inShortTurns(() => {
    answered++;
    return new Response();
  });
  const answers = Array.from({ length: 850 }, () => fetch(REQUEST));
  const byTurn = [answered];
  while (answered < answers.length) {
    const before = answered;
    await nextTurn();
    byTurn.push(answered - before);
  }
  await Promise.all(answers);
  expect(byTurn.filter((count) => count > 0)).toEqual([250, 250, 250, 100]);
});

test("inShortTurns() makes no promise of what it can answer at once", async () => {
  const fetch = inShortTurns(() => new Response());
  for (let turn = 0; turn < 3; turn++) {
    expect(fetch(REQUEST)).toBeInstanceOf(Response);
    await nextTurn();
  }
});
