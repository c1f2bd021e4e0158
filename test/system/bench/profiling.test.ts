import { expect, test } from "bun:test";
import { join } from "node:path";
import { selfTimes } from "../../../bench/support/run/profiling.ts";

const ROOT = join(import.meta.dir, "../../..");

function node(functionName: string, path: string, lineNumber: number, hitCount: number) {
  const url = path === "" ? "" : `file://${join(ROOT, path)}`;
  return { hitCount, callFrame: { functionName, url, lineNumber } };
}

test("selfTimes() adds up a function over callers and processes, the most first", () => {
  const first = {
    nodes: [node("(root)", "", -1, 0), node("find", "src/a.ts", 9, 2), node("", "src/a.ts", 0, 3)],
  };
  const second = {
    nodes: [node("find", "src/a.ts", 9, 5), node("find", "src/b.ts", 9, 1), node("sort", "", -1, 4)],
  };
  expect(selfTimes([first, second])).toEqual([
    { name: "find", place: "src/a.ts:10", samples: 7 },
    { name: "sort", place: "", samples: 4 },
    { name: "(anonymous)", place: "src/a.ts:1", samples: 3 },
    { name: "find", place: "src/b.ts:10", samples: 1 },
  ]);
});
