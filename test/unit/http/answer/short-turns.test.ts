import { expect, test } from "bun:test";
import { inShortTurns } from "../../../../src/http/answer/short-turns.ts";
import { nextTurn } from "../../../../src/lib/schedule/next-turn.ts";

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
