import { expect, test } from "bun:test";
import { createImportBars } from "../../../../src/cli/screen/bars.ts";

test("where nobody watches a bar a line comes every ten seconds, with bytes, rate and time left", () => {
  const said: string[] = [];
  let nowMs = 5000;
  const terminal = {
    error: (text: string) => void said.push(text),
    errorIsTerminal: false,
    redraw: () => said.push("a bar"),
  };
  const bars = createImportBars(terminal, () => nowMs);
  for (let second = 0; second <= 30; second++, nowMs += 1000)
    bars.show("Importing", { done: second * 10, total: 1000, count: second * 1234 });
  bars.show("Archiving", { done: 1, total: 2, count: null });
  expect(said).toEqual([
    "Importing  10%  1,234/s  1 min 30 s left\n",
    "Importing  20%  1,234/s  1 min 20 s left\n",
    "Importing  30%  1,234/s  1 min 10 s left\n",
  ]);
});
